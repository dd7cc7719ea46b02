"""What a replay would have left outside the prompt: texts that were spilled, where they went, and who read them again."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from compaction.messages import BlockId
from compaction.replay.reads import read_tool
from compaction.replay.replayable import Replayable
from compaction.replay.rows import BlockRow
from compaction.transcript import Edit
from ctxweb.replays.run import ReplayRun

POINTER = re.compile(r"artifact:[a-z0-9-]+:[0-9a-f]{12}\.txt:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A text that left the view before `call` and can be had again at `pointer`. `read_again` is the block of a later tool use that
    reads the same file, `read_call` the call whose answer it is; None where none does."""

    block: str
    call: int
    layer: str
    tool_name: str
    path: str
    chars: int
    exact: int
    pointer: str
    read_again: str | None
    read_call: int | None


def pointer_of(edit: Edit) -> str:
    """The pointer in the text that an edit left; empty where there is none."""
    if edit.body is None or edit.body.text is None:
        return ""
    found = POINTER.search(edit.body.text)
    return found.group() if found else ""


def artifacts(run: ReplayRun) -> tuple[Artifact, ...]:
    """Everything that was spilled, in order."""
    places = [
        (firing, edit, pointer)
        for firing in run.replay.firings
        for edit in firing.compacted.edits
        if edit.block is not None and (pointer := pointer_of(edit))
    ]
    if not places:
        return ()
    reads = _reads(run.lane)
    rows = {BlockId(row.seq, row.i): row for row in run.lane.blocks}
    uses = {row.tool_id: row for row in run.lane.blocks if row.kind == "tool_use" and row.tool_id}
    return tuple(
        _artifact(firing.call, edit.layer or "", rows[edit.block], uses, reads, pointer)
        for firing, edit, pointer in places
        if edit.block in rows
    )


def _artifact(
    call: int, layer: str, row: BlockRow, uses: Mapping[str, BlockRow], reads: Mapping[str, list[tuple[int, BlockId]]], pointer: str
) -> Artifact:
    use = uses.get(row.tool_id, row)
    path = row.path or use.path
    again = _first_from(reads.get(path, []), call) if path else None
    return Artifact(
        block=f"{row.seq}.{row.i}",
        call=call,
        layer=layer,
        tool_name=row.tool_name or use.tool_name,
        path=path,
        chars=row.chars,
        exact=row.tokens,
        pointer=pointer,
        read_again=str(again[1]) if again else None,
        read_call=again[0] if again else None,
    )


def _reads(lane: Replayable) -> dict[str, list[tuple[int, BlockId]]]:
    """The calls whose answers read each file, with the blocks of the reads, in order."""
    reads: dict[str, list[tuple[int, BlockId]]] = {}
    for row in lane.blocks:
        call = lane.messages[row.seq - 1].call
        if row.kind == "tool_use" and row.path and call is not None and read_tool(lane.facts.format, row.tool_name) is not None:
            reads.setdefault(row.path, []).append((call, BlockId(row.seq, row.i)))
    return reads


def _first_from(reads: list[tuple[int, BlockId]], call: int) -> tuple[int, BlockId] | None:
    place = bisect_left(reads, (call, BlockId(0, 0)))
    return reads[place] if place < len(reads) else None
