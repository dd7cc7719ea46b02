"""The checkpoints that real sessions recorded, each with the blocks that it replaced, for tests that look at all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from compaction.messages import Block, Message
from compaction.summarizers.quotes import Piece
from ctxweb.importers import IMPORTERS
from tests.ctxweb.importers.readings import LaneReading, head_of, read
from tests.shared import SHARED

CORPUS = SHARED / "corpus"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusCheckpoint:
    """`pieces`: the blocks of the range, as logged. `id`: file, lane and the number of the compaction in the lane."""

    id: str
    pieces: tuple[Piece, ...]
    summary: str

    @property
    def session(self) -> str:
        """File and lane: the checkpoints of one are a chain."""
        return self.id.rpartition("/")[0]


@cache
def corpus_checkpoints() -> tuple[CorpusCheckpoint, ...]:
    """All of them, files in the order of their names; of copies of one checkpoint the first."""
    found: dict[str, CorpusCheckpoint] = {}
    formats = {importer.id: importer for importer in IMPORTERS}
    rows = [json.loads(line) for line in (CORPUS / "index.jsonl").read_text().splitlines()]
    for row in sorted(rows, key=lambda row: str(row["file"])):
        file = CORPUS / row["file"]
        importer = formats.get(row["format"])
        if importer is None or head_of(file).layout is None:
            continue
        for place, lane in enumerate(read(importer, file).lanes):
            for checkpoint in _of_lane(lane, f"{file.stem}/{place}"):
                found.setdefault(checkpoint.summary, checkpoint)
    return tuple(found.values())


def _of_lane(lane: LaneReading, name: str) -> Iterator[CorpusCheckpoint]:
    messages = {message.seq: message for message in lane.messages}
    blocks = {block.id: (message, block) for message in lane.messages for block in message.blocks}
    for folded in lane.history.compactions:
        entries = [entry for entry in lane.history.ledger if entry.compaction == folded.ordinal]
        put = [entry for entry in entries if entry.adds and messages[entry.block.seq].origin == "summary"]
        summary = "\n\n".join(lane.text(blocks[entry.block][1].body) for entry in put)
        taken = [entry for entry in entries if not entry.adds and entry.state_after is None]
        if summary.strip() and taken:
            pieces = tuple(_piece(lane, *blocks[entry.block]) for entry in sorted(taken, key=lambda entry: entry.block))
            yield CorpusCheckpoint(id=f"{name}/{folded.ordinal}", pieces=pieces, summary=summary)


def _piece(lane: LaneReading, message: Message, block: Block) -> Piece:
    return Piece(message.role, message.origin, block, lane.text(block.body))
