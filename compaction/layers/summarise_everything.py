"""One summary replaces the whole view (s08, L4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.compact_tool import compact_call, focus_of
from compaction.layers.archived_summary import COMPACTED, archived_summary
from compaction.layers.base import require_whole
from compaction.limits import Limits
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariseEverything:
    """Archives the view, has it summarised in at most `summary_tokens`, and keeps the summary alone.

    The summary may be larger than what it replaces; a blank one is a failure. A view that is one summary already stays. Where
    the model asked for compaction in its last batch of calls, the summary is asked to keep what it named as the focus.
    """

    id: ClassVar[str] = "summarise_everything"
    title: ClassVar[str] = "Everything summarised"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "summary"
    idempotent: ClassVar[bool] = True

    summary_tokens: int = 2_000

    def __post_init__(self) -> None:
        require_whole(self.id, 1, summary_tokens=self.summary_tokens)

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One summary of all messages."""
        return archived_summary(view, len(view.messages), COMPACTED, ask, focus=requested_focus(view), most_tokens=self.summary_tokens)


def requested_focus(view: PromptView) -> str:
    """The focus of the call by which the model asked for compaction just now; "" where it did not, or named none."""
    newest = max((index for index, message in enumerate(view.messages) if message.role == "assistant"), default=0)
    visibles = [visible for message in view.messages[newest:] for visible in message.blocks]
    call = compact_call([visible.block for visible in visibles])
    return next((focus_of(view.pricer.text(visible.body)) for visible in visibles if call and visible.block.id == call.id), "")
