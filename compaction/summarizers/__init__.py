"""Summarizers that need no model: a stub, an extract, and the summaries that a session recorded."""

from __future__ import annotations

from collections.abc import Iterable

from compaction.errors import SummarizerError
from compaction.summarizers.base import Summarizer
from compaction.summarizers.extractive import Extractive
from compaction.summarizers.recorded import Recorded, RecordedSummary
from compaction.summarizers.stub import Stub

SUMMARIZERS: tuple[type[Summarizer], ...] = (Stub, Extractive, Recorded)

__all__ = ["SUMMARIZERS", "Extractive", "Recorded", "RecordedSummary", "Stub", "Summarizer", "summarizer_named"]


def summarizer_named(summarizer_id: str, recorded: Iterable[RecordedSummary] = (), *, last_seq: int | None = None) -> Summarizer:
    """The summarizer with this id; `recorded` and `last_seq` are for the one that needs them. SummarizerError where there is none."""
    if summarizer_id == Recorded.id:
        return Recorded(summaries=tuple(recorded), last_seq=last_seq)
    for kind in SUMMARIZERS:
        if kind.id == summarizer_id:
            return kind()
    raise SummarizerError(f"there is no summarizer {summarizer_id!r}: use one of {', '.join(kind.id for kind in SUMMARIZERS)}")
