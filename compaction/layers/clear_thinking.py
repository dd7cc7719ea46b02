"""Older thinking goes; what was said and done stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.edits import remove
from compaction.layers.checks import check_whole
from compaction.limits import Limits
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView, ViewMessage


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
        turns = [message for message in view.messages if message.role == "assistant" and _thinks(message)]
        old = turns[: max(0, len(turns) - self.keep_turns)]
        if not old:
            return Plan(skipped=f"{len(turns)} messages with thinking, {self.keep_turns} are kept")
        return Plan(edits=(remove(one.block.id for message in old for one in message.blocks if one.block.kind == "thinking"),))


def _thinks(message: ViewMessage) -> bool:
    if len(message.ids) == len(message.uses):
        return False
    for visible in message.blocks:  # noqa: SIM110 - `any` costs three times as much, before every call of a session
        if visible.block.kind == "thinking":
            return True
    return False
