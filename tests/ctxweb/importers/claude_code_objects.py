"""What an import of Claude Code sources would print (docs/importing.md), made without services and database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compaction.history import History, fold
from compaction.messages import Block, Message
from compaction.transcript import Lane
from ctxweb.importers.base import Reading
from ctxweb.importers.claude_code import IMPORTER
from ctxweb.importers.physical import PhysicalError, RawRecord, ReadLimits, detect_layout, open_stream, read_records
from tests.ctxweb.importers.readings import CharsAsTokens

BUCKETS = ("input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens")
LIMITS = ReadLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedLane:
    lane: Lane
    messages: tuple[Message, ...]
    history: History
    records: tuple[tuple[RawRecord, Reading], ...]

    @property
    def own_blocks(self) -> list[Block]:
        return [block for message in self.messages if not message.inherited for block in message.blocks]


def lanes_of(path: Path) -> list[FoldedLane]:
    reader = IMPORTER.reader()
    opener = open_stream(path, limits=LIMITS).members[0].open
    layout = detect_layout(opener, limits=LIMITS)
    with opener() as stream:
        records = read_records(stream, limits=LIMITS, layout=layout, looks_like_record=IMPORTER.looks_like_record)
        judged = [(record, reader.feed(record)) for record in records]
    return list(_folded(list(reader.lanes()), judged))


def _folded(lanes: list[Lane], judged: list[tuple[RawRecord, Reading]]) -> Iterator[FoldedLane]:
    owners = {number: index for index, lane in enumerate(lanes) for number in lane.record_numbers}
    for index, lane in enumerate(lanes):
        messages: list[Message] = []
        history = fold(lane.events, CharsAsTokens(), on_message=messages.append)
        records = tuple(pair for pair in judged if owners.get(pair[0].number, 0) == index)
        yield FoldedLane(lane=lane, messages=tuple(messages), history=history, records=records)


def objects_of(paths: Iterable[Path]) -> list[dict[str, Any]]:
    objects: list[dict[str, Any]] = []
    for path in paths:
        try:
            objects.extend(map(printed, lanes_of(path)))
        except PhysicalError as error:
            objects.append({"source": str(path), "status": "failed", "error": {"code": "unreadable", "message": str(error)}})
    return objects


def printed(folded: FoldedLane) -> dict[str, Any]:
    lane, calls = folded.lane, [call for call in folded.history.calls if not call.inherited]
    verdicts = Counter(reading.verdict for _, reading in folded.records)
    prompts = [call.usage.prompt_tokens for call in calls if call.usage.prompt_tokens is not None]
    return {
        "session": lane.key,
        "format": IMPORTER.id,
        "status": "imported",
        "native_id": lane.native_id,
        "lane": lane.kind,
        "parent": lane.parent_key or lane.parent_native_id,
        "records": len(folded.records),
        "verdicts": dict(verdicts),
        "messages": sum(message.records for message in folded.messages),
        "model_calls": len(calls),
        "tool_calls": len({block.tool_id for block in folded.own_blocks if block.kind == "tool_use" and block.tool_id}),
        "tool_results": len({block.tool_id for block in folded.own_blocks if block.kind == "tool_result" and block.tool_id}),
        "images": sum(map(_images, folded.own_blocks)),
        "usage": {bucket: _total(getattr(call.usage, bucket) for call in calls) for bucket in BUCKETS},
        "peak_context": max(prompts, default=None),
        "compactions": [_compaction(item) for item in folded.history.compactions if item.index is not None],
        "error": None,
    }


def _images(block: Block) -> int:
    flagged = (flag.removeprefix("images:") for flag in block.flags if flag.startswith("images:"))
    return 1 if block.kind == "image" else sum(map(int, flagged))


def _total(figures: Iterable[int | None]) -> int | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known else None


def _compaction(folded: Any) -> dict[str, Any]:
    compaction = folded.compaction
    names = ("line", "origin", "mechanism", "trigger", "status", "tokens_before", "tokens_after")
    return {"index": folded.index, "edits": folded.edits, **{name: getattr(compaction, name) for name in names}}
