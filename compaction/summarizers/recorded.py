"""The summaries that the session itself recorded, taken for those that another policy would have got."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import SummaryRequest
from compaction.view import ViewMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSummary:
    """A summary of the session. `ends_at` is the seq of the last message of the range that it stood for."""

    text: str
    ends_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Answers with the recorded summary whose range ends nearest to the range asked for; of two as near, with the earlier.

    `last_seq` is that of the last message that was logged: a message with a later one was put in by a replay.
    """

    summaries: tuple[RecordedSummary, ...] = ()
    last_seq: int | None = None

    id: ClassVar[str] = "recorded"
    title: ClassVar[str] = "The recorded summary that ends nearest"

    def summarize(self, request: SummaryRequest) -> str | None:
        """That summary as it was recorded, whatever its size; None where the session recorded none."""
        end = self._end(request.messages)
        nearest = min(self.summaries, key=lambda summary: (abs(summary.ends_at - end), summary.ends_at), default=None)
        return None if nearest is None else nearest.text

    def _end(self, messages: Sequence[ViewMessage]) -> int:
        logged = (block.block.id.seq for message in reversed(messages) for block in reversed(message.blocks))
        return next((seq for seq in logged if self.last_seq is None or seq <= self.last_seq), 0)
