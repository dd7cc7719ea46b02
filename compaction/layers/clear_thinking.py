"""Older thinking goes; what was said and done stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.edits import remove
from compaction.layers.checks import check_whole
from compaction.limits import Limits
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearThinking:
    """Removes the thinking blocks of all assistant messages but the newest `keep_turns` that have any."""

    id: ClassVar[str] = "clear_thinking"
    title: ClassVar[str] = "Older thinking removed"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "clear_thinking"
    idempotent: ClassVar[bool] = True

    keep_turns: int = 1

    def __post_init__(self) -> None:
        check_whole(self, "keep_turns")

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One removal of all thinking blocks that are old enough."""
        by_message = ([one.block.id for one in message.blocks if one.block.kind == "thinking"] for message in view.messages)
        turns = [thinking for thinking in by_message if thinking]
        old = turns[: max(0, len(turns) - self.keep_turns)]
        if not old:
            return Plan(skipped=f"{len(turns)} messages with thinking, {self.keep_turns} are kept")
        return Plan(edits=(remove(block for thinking in old for block in thinking),))
