"""The middle of a view becomes one summary; the head and the newest part stay as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.layers.checkpoint_plan import OPENING, Checkpoint, checkpoint_plan
from compaction.layers.checks import check_whole
from compaction.layers.keep_newest import KeepsNewest
from compaction.limits import Limits
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariseKeepRecent(KeepsNewest):
    """Summarises what lies between the head and the newest part, with an earlier summary in it: summaries are merged.

    `summary_tokens` is the most that is asked for. With `must_shrink` a summary as large as what it replaces is refused.
    """

    id: ClassVar[str] = "summarise_keep_recent"
    title: ClassVar[str] = "Older messages summarised"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "summary"
    idempotent: ClassVar[bool] = False

    summary_tokens: int = 4_096
    focus: str = ""
    opening: str = OPENING
    must_shrink: bool = True

    def __post_init__(self) -> None:
        KeepsNewest.__post_init__(self)
        check_whole(self, "summary_tokens", at_least=1)

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One summary, or none where both ends meet."""
        middle = self.middle(view, limits)
        if middle is None:
            return Plan(skipped="keep_ratio needs a window, and none is known")
        messages = view.messages[middle[0] : middle[1]]
        if not messages:
            return Plan(skipped=f"all {len(view.messages)} messages are kept")
        checkpoint = Checkpoint(
            messages=messages, most_tokens=self.summary_tokens, focus=self.focus, opening=self.opening, must_shrink=self.must_shrink
        )
        return checkpoint_plan(view, checkpoint, ask)
