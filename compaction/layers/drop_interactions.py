"""Older interactions go whole: the call and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.edits import remove
from compaction.layers.checks import check_whole
from compaction.limits import Limits
from compaction.messages import BlockId
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView


@dataclass(frozen=True, slots=True, kw_only=True)
class DropInteractions:
    """Removes all interactions but the newest `keep`, counted by their results. Calls that wait for a result stay."""

    id: ClassVar[str] = "drop_interactions"
    title: ClassVar[str] = "Older tool interactions removed"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "sliding_window"
    idempotent: ClassVar[bool] = True

    keep: int = 4

    def __post_init__(self) -> None:
        check_whole(self, "keep")

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One removal for each interaction, so that none is split."""
        halves: dict[str, list[BlockId]] = {}
        messages = view.messages[view.first_tool() :]
        for message in messages:
            for visible in message.blocks:
                if visible.block.tool_id is not None:
                    halves.setdefault(visible.block.tool_id, []).append(visible.block.id)
        answered = [tool_id for message in messages for tool_id in message.results if len(halves.get(tool_id, ())) > 1]
        old = answered[: max(0, len(answered) - self.keep)]
        if not old:
            return Plan(skipped=f"{len(answered)} interactions, {self.keep} are kept")
        return Plan(edits=tuple(remove(halves[tool_id]) for tool_id in dict.fromkeys(old)))
