"""Durable states for tests: short constructors, and strategies of any valid one."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from compaction.durable.values import (
    DurableContextState,
    DurableFact,
    PendingItem,
    RetrievalDecision,
    RetrievalEvidence,
    RetrievalTrace,
)

EARLY, LATE = "2026-10-01T09:00:00Z", "2026-10-01T10:00:00Z"


def fact(fact_id: str = "f", **fields: Any) -> DurableFact:
    given = {"content": "The port is 8000.", "source_pointer": "transcript:s:1", "last_confirmed_at": EARLY}
    return DurableFact(fact_id=fact_id, **{**given, **fields})


def item(item_id: str = "p", **fields: Any) -> PendingItem:
    given = {"description": "Ship the docs.", "source_pointer": "transcript:s:2", "last_confirmed_at": EARLY}
    return PendingItem(item_id=item_id, **{**given, **fields})


def evidence(memory_id: str = "m", **fields: Any) -> RetrievalEvidence:
    given = {"source_id": "note", "source_type": "wiki", "source_title": "", "captured_at": EARLY, "score": 0.5, "source_rank": 1}
    return RetrievalEvidence(memory_id=memory_id, **{**given, **fields})


# Anything that a JSON text can hold, lone surrogates and control characters included.
texts = st.text(st.characters(), max_size=12)
filled = texts.filter(lambda text: bool(text.split()))
ids = st.lists(filled, max_size=3, unique_by=lambda text: " ".join(text.split()))


def _listed(make: Any, *fields: Any) -> Any:
    return ids.flatmap(lambda names: st.tuples(*(st.builds(make, st.just(name), *fields) for name in names)))


def _fact(name: str, content: str, pointer: str, time: str) -> DurableFact:
    return DurableFact(fact_id=name, content=content, source_pointer=pointer, last_confirmed_at=time)


def _item(name: str, description: str, pointer: str, time: str, status: Any, reason: str) -> PendingItem:
    kept = reason if status == "blocked" else None
    return PendingItem(item_id=name, description=description, source_pointer=pointer, last_confirmed_at=time, status=status, reason=kept)


def _evidence(name: str, source: str, title: str, time: str, score: float, rank: int, key: str | None) -> RetrievalEvidence:
    return RetrievalEvidence(
        memory_id=name,
        source_id=source,
        source_type="wiki",
        source_title=title,
        captured_at=time,
        score=score,
        source_rank=rank,
        conflict_key=key,
    )


def _trace(name: str, query: str, time: str, reason: str) -> RetrievalTrace:
    decisions = (RetrievalDecision(memory_id="m", decision="selected"), RetrievalDecision(memory_id="n", decision="dropped", reason=reason))
    return RetrievalTrace(trace_id=name, query=query, captured_at=time, decisions=decisions)


zoned = st.sampled_from(
    [EARLY, LATE, "2026-10-01T17:30:00+08:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.5-14:00", "20261001T0900Z"]
)
states = st.builds(
    DurableContextState,
    facts=_listed(_fact, filled, filled, zoned),
    pending_items=_listed(_item, filled, filled, zoned, st.sampled_from(["open", "blocked", "done"]), filled),
    retrieval_evidence=_listed(_evidence, filled, texts, zoned, st.floats(0, 1), st.integers(1, 10**20), st.none() | filled),
    retrieval_traces=_listed(_trace, filled, zoned, texts),
)
