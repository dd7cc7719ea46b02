"""Everything becomes one summary, but for a head and the newest texts of a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.layers.checkpoint_plan import OPENING, Checkpoint, checkpoint_plan
from compaction.layers.checks import check_whole
from compaction.layers.cuts import end_with_pairs
from compaction.layers.keep_user_texts import Kept, keep_user_texts
from compaction.limits import Limits
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariseAll:
    """Summarises all messages after the first `keep_first`.

    Of the texts of a person the newest stay where one of the limits is given: up to `keep_user_tokens` in the policy's own unit, and up
    to `keep_user_messages` of them; the summary then stands behind them. `summary_tokens` is the most that is asked for.
    """

    id: ClassVar[str] = "summarise_all"
    title: ClassVar[str] = "Everything summarised"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "summary"
    idempotent: ClassVar[bool] = False

    keep_first: int = 0
    keep_user_tokens: int | None = None
    keep_user_messages: int | None = None
    summary_tokens: int = 4_096
    focus: str = ""
    opening: str = OPENING
    must_shrink: bool = True

    def __post_init__(self) -> None:
        check_whole(self, "keep_first", "keep_user_tokens", "keep_user_messages")
        check_whole(self, "summary_tokens", at_least=1)

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One summary, with the edit of a kept text that is over the budget."""
        head = end_with_pairs(view.messages, self.keep_first)
        kept = self._kept(view)
        messages = [message for index, message in enumerate(view.messages) if index >= head and index not in kept.positions]
        if not messages:
            return Plan(skipped=f"all {len(view.messages)} messages are kept")
        checkpoint = Checkpoint(
            messages=messages,
            most_tokens=self.summary_tokens,
            focus=self.focus,
            opening=self.opening,
            must_shrink=self.must_shrink,
            after=kept.last,
            beside=kept.cuts,
        )
        return checkpoint_plan(view, checkpoint, ask)

    def _kept(self, view: PromptView) -> Kept:
        if self.keep_user_tokens is None and self.keep_user_messages is None:
            return Kept(frozenset(), (), None)
        return keep_user_texts(view, view.own if self.keep_user_tokens is None else self.keep_user_tokens, self.keep_user_messages)
