"""s14 L4: a summary and a short acknowledgement stand for all but the newest messages."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from compaction.ask import Ask, Asked, SummaryRequest
from compaction.edits import summarise
from compaction.errors import SummarizerError
from compaction.layers.base import require_whole, start_with_pairs, text_message
from compaction.limits import Limits
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView

SUMMARY = "[之前的对话摘要]\n"
ACKNOWLEDGEMENT = "好的, 我已了解之前的对话内容。请继续。"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariseOld:
    """`keep_recent_messages` stay at the end, more where a pair would be split; `most_tokens`: of the answer.

    A failed or blank summary changes nothing.
    """

    id: ClassVar[str] = "summarise_old"
    title: ClassVar[str] = "Summarise the past"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "summary"
    idempotent: ClassVar[bool] = False

    keep_recent_messages: int = 4
    most_tokens: int = 2000

    def __post_init__(self) -> None:
        require_whole(self.id, 1, keep_recent_messages=self.keep_recent_messages, most_tokens=self.most_tokens)

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """Asks for a summary of what lies before the newest messages, and puts it in their place."""
        messages, keep = view.messages, self.keep_recent_messages
        if len(messages) <= keep:
            return Plan(skipped=f"{len(messages)} messages ≤ {keep}")
        old = messages[: start_with_pairs(messages, len(messages) - keep)]
        if not old:
            return Plan(skipped="no cut before the newest messages keeps all pairs whole")
        try:
            summary = ask.summarize(SummaryRequest(messages=old, view=view, most_tokens=self.most_tokens))
        except SummarizerError as error:
            return Plan(skipped="the summary failed", asked=(Asked(messages=len(old), outcome="failed", reason=str(error)),))
        if summary is None or not summary.strip():
            return Plan(skipped="the summary is blank", asked=(Asked(messages=len(old), outcome="blank"),))
        added = (
            text_message(view.next_seq, "user", SUMMARY + summary.strip(), origin="summary"),
            text_message(view.next_seq + 1, "assistant", ACKNOWLEDGEMENT),
        )
        edit = summarise(chain.from_iterable([message.ids for message in old]), (added[0].seq, added[1].seq))
        return Plan(edits=(edit,), added=added, asked=(Asked(messages=len(old), outcome="ok"),))
