"""What a summarizer is. It answers a request of a layer; whoever calls the layer chooses it."""

from __future__ import annotations

from typing import ClassVar, Protocol

from compaction.ask import SummaryRequest


class Summarizer(Protocol):
    """Makes a summary of a range of messages, offline and always the same, or has it made."""

    id: ClassVar[str]
    title: ClassVar[str]

    def summarize(self, request: SummaryRequest) -> str | None:
        """The summary, at most `request.most_tokens` where it is made here; None or a blank text is a failure. Raises SummarizerError."""
        ...
