"""The oldest messages go, and nothing stands for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.edits import remove
from compaction.layers.keep_newest import KeepsNewest
from compaction.limits import Limits
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView


@dataclass(frozen=True, slots=True, kw_only=True)
class SlidingWindow(KeepsNewest):
    """Removes whole messages between the head and the newest part. A call and its result go or stay together."""

    id: ClassVar[str] = "sliding_window"
    title: ClassVar[str] = "Oldest messages removed"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "sliding_window"
    idempotent: ClassVar[bool] = True
    reached: ClassVar[bool] = False

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One removal, or none where both ends meet."""
        middle = self.middle(view, limits)
        if middle is None:
            return Plan(skipped="keep_ratio needs a window, and none is known")
        start, end = middle
        takes = [visible.block.id for message in view.messages[start:end] for visible in message.blocks]
        return Plan(edits=(remove(takes),)) if takes else Plan(skipped=f"all {len(view.messages)} messages are kept")
