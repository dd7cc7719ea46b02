"""s14 L3: the first message and the newest ones stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from compaction.ask import Ask
from compaction.edits import remove
from compaction.layers.base import require_whole
from compaction.limits import Limits
from compaction.messages import BlockId
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView, ViewMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneOldMessages:
    """`keep_recent_messages`: how many messages stay at the end, beside the first. An interaction of which one side would
    stay loses that side too."""

    id: ClassVar[str] = "prune_old_messages"
    title: ClassVar[str] = "Drop the middle"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "snip_messages"
    idempotent: ClassVar[bool] = True

    keep_recent_messages: int = 6

    def __post_init__(self) -> None:
        require_whole(self.id, 1, keep_recent_messages=self.keep_recent_messages)

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """Takes the messages between the first and the newest, and what would be left of pairs."""
        messages, keep = view.messages, self.keep_recent_messages
        if len(messages) <= keep + 1:
            return Plan(skipped=f"{len(messages)} messages ≤ {keep + 1}")
        dropped, kept = messages[1:-keep], (messages[0], *messages[-keep:])
        takes = chain(chain.from_iterable([message.ids for message in dropped]), _halves(dropped, kept))
        return Plan(edits=(remove(takes),))


def _halves(dropped: Sequence[ViewMessage], kept: Sequence[ViewMessage]) -> list[BlockId]:
    """The blocks of kept messages whose other half is in a dropped one."""
    uses = frozenset(chain.from_iterable([message.uses for message in kept]))
    results = frozenset(chain.from_iterable([message.results for message in kept]))
    lone = uses ^ results
    if not lone:
        return []
    gone = lone.intersection(chain.from_iterable([(*message.uses, *message.results) for message in dropped]))
    return [
        visible.block.id
        for message in kept
        if not (gone.isdisjoint(message.uses) and gone.isdisjoint(message.results))
        for visible in message.blocks
        if visible.block.kind in ("tool_use", "tool_result") and (visible.block.tool_id or "") in gone
    ]
