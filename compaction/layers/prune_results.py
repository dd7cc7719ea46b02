"""The middle of large tool results leaves; head and tail stay, as mini-harness 09 and dsh prune."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.edits import truncate
from compaction.limits import Limits
from compaction.messages import Body
from compaction.prune import PruneSizes, prune_text
from compaction.transcript import Edit, Mechanism
from compaction.view import Plan, PromptView, VisibleBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneResults:
    """Tool results of more than `threshold_chars` code points keep `head_chars` and `tail_chars` around a mark, wherever they stand."""

    id: ClassVar[str] = "prune_results"
    title: ClassVar[str] = "Large results pruned"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "prune_head_tail"
    idempotent: ClassVar[bool] = True

    threshold_chars: int = 8192
    head_chars: int = 4096
    tail_chars: int = 1024

    def __post_init__(self) -> None:
        self._sizes()

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One state edit for each result above the threshold."""
        large = [message for message in view.messages if message.largest_result > self.threshold_chars]
        edits = tuple(self._edit(visible, view) for message in large for visible in message.blocks if self._is_large(visible))
        return Plan(edits=edits) if edits else Plan(skipped=f"no tool result above {self.threshold_chars:,} characters")

    def _is_large(self, visible: VisibleBlock) -> bool:
        return visible.block.kind == "tool_result" and visible.body.chars > self.threshold_chars

    def _edit(self, visible: VisibleBlock, view: PromptView) -> Edit:
        text = view.pricer.text(visible.body)
        pruned = prune_text(text, self._sizes())
        return truncate(visible.block.id, Body.of(text if pruned is None else pruned.text))

    def _sizes(self) -> PruneSizes:
        return PruneSizes(threshold_chars=self.threshold_chars, head_chars=self.head_chars, tail_chars=self.tail_chars)
