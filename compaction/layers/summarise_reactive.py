"""After the provider refused a prompt as too long: a summary of all but the newest messages (s08)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.layers.archived_summary import REACTIVE, archived_summary
from compaction.layers.base import require_whole, start_with_pairs
from compaction.limits import Limits
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariseReactive:
    """Archives the view and summarises what lies before the last `keep_messages`, more where a pair would be split.

    With nothing before them the summarizer is not asked.
    """

    id: ClassVar[str] = "summarise_reactive"
    title: ClassVar[str] = "All but the newest messages summarised"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "summary"
    idempotent: ClassVar[bool] = True

    keep_messages: int = 5
    summary_tokens: int = 2_000

    def __post_init__(self) -> None:
        require_whole(self.id, 0, keep_messages=self.keep_messages)
        require_whole(self.id, 1, summary_tokens=self.summary_tokens)

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One summary of the messages before the tail."""
        start = start_with_pairs(view.messages, max(0, len(view.messages) - self.keep_messages))
        if start == 0:
            return Plan(skipped=f"no message lies before the newest {self.keep_messages} and the calls of their results")
        return archived_summary(view, start, REACTIVE, ask, most_tokens=self.summary_tokens)
