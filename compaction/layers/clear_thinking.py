"""Older thinking goes; what was said and done stays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
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
        messages, start = view.messages, view.settled.get(self, 0)
        turns = [at for at in range(start, len(messages)) if messages[at].thinks and messages[at].role == "assistant"]
        old = turns[: max(0, len(turns) - self.keep_turns)]
        settled = turns[len(old)] if len(old) < len(turns) else len(messages)
        if not old:
            return Plan(skipped=f"{len(turns)} messages with thinking, {self.keep_turns} are kept", settled=settled)
        takes = [[one.block.id for one in messages[at].blocks if one.block.kind == "thinking"] for at in old]
        emptied = sum(len(blocks) == len(messages[at].ids) for at, blocks in zip(old, takes, strict=True))
        return Plan(edits=(remove(chain.from_iterable(takes)),), settled=settled - emptied)
