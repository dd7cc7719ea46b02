"""s14 L2: of several reads of one file the last stays; the older ones go, call and result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.edits import remove
from compaction.limits import Limits
from compaction.messages import BlockId
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupFileReads:
    """Keys of reads are compared as exact text. A read whose call is not in the view stays: its pair cannot go whole."""

    id: ClassVar[str] = "dedup_file_reads"
    title: ClassVar[str] = "Drop repeated file reads"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "dedup"
    idempotent: ClassVar[bool] = True

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """Takes both blocks of each older read."""
        older = _older_reads(view)
        takes = _pairs(view, older) if older else ()
        if not takes:
            return Plan(skipped="no file was read twice")
        return Plan(edits=(remove(takes),))


def _older_reads(view: PromptView) -> set[str]:
    """Tool ids of reads of a file that a later result reads again."""
    last: dict[str, str] = {}
    older: set[str] = set()
    for message in [message for message in view.messages if message.reads]:
        for tool_id, key in message.reads:
            if key in last:
                older.add(last[key])
            last[key] = tool_id
    return older.difference(last.values()) if older else older


def _pairs(view: PromptView, older: set[str]) -> tuple[BlockId, ...]:
    """The blocks of these calls and their results, where both are in the view."""
    calling = [message for message in view.messages if message.uses and not older.isdisjoint(message.uses)]
    answering = [message for message in view.messages if message.results and not older.isdisjoint(message.results)]
    whole = older.intersection([tool_id for message in calling for tool_id in message.uses])
    return tuple(
        [
            visible.block.id
            for message in (*calling, *answering)
            for visible in message.blocks
            if visible.block.kind in ("tool_use", "tool_result") and visible.block.tool_id in whole
        ]
    )
