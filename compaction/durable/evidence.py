"""Hits of a retrieval become evidence. They were already selected: nothing is sorted, scored or dropped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from compaction.durable.fields import rank
from compaction.durable.values import RetrievalEvidence, unique
from compaction.errors import DurableError


def capture_retrieval_evidence(hits: Iterable[Mapping[str, Any]]) -> tuple[RetrievalEvidence, ...]:
    """The hits, frozen, in their order.

    A hit has `memory_id`, `score`, `source_rank` or `rank` (the first wins), maybe `conflict_key`, and `provenance` with
    `source_id`, `source_type`, `title`, `captured_at`. Raises DurableError `provenance_missing`, `rank_invalid`,
    `duplicate_id` and the refusals of the fields.
    """
    captured = tuple(_evidence(hit) for hit in hits)
    unique((one.memory_id for one in captured), "retrieval_hits")
    return captured


def _evidence(hit: Mapping[str, Any]) -> RetrievalEvidence:
    if not isinstance(hit, Mapping):
        raise DurableError("a retrieval hit is no object: give one", code="wrong_kind", field="hits")
    provenance = hit.get("provenance")
    if not isinstance(provenance, Mapping):
        raise DurableError("a retrieval hit has no provenance: say where it came from", code="provenance_missing")
    own_rank = hit.get("source_rank")
    return RetrievalEvidence(
        memory_id=hit.get("memory_id"),  # type: ignore[arg-type]  # the fields are checked where they are kept
        source_id=provenance.get("source_id"),  # type: ignore[arg-type]
        source_type=provenance.get("source_type"),  # type: ignore[arg-type]
        source_title=provenance.get("title"),  # type: ignore[arg-type]
        captured_at=provenance.get("captured_at"),  # type: ignore[arg-type]
        score=hit.get("score"),  # type: ignore[arg-type]
        source_rank=rank(hit.get("rank") if own_rank is None else own_rank, "source_rank"),
        conflict_key=hit.get("conflict_key"),
    )
