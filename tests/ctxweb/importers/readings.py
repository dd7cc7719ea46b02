"""Reads a source with one importer, without a database: verdicts, lanes, messages and the folded history of each."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from compaction.history import History, fold, view_at
from compaction.messages import Block, Body, Message
from compaction.transcript import Edit, Event, Lane
from ctxweb.importers.base import Importer
from ctxweb.importers.physical import Head, ReadLimits, read_head, read_records

SAMPLES = Path(__file__).parent.parent.parent / "fixtures" / "samples"
LIMITS = ReadLimits()


class CharsAsTokens:
    """Sizes for tests: a token a character, ten for content that is not known."""

    def whole(self, message: Message, block: Block) -> int:
        return block.body.chars + block.signature_chars

    def edited(self, block: Block, edit: Edit) -> int:
        return edit.body.chars if edit.body is not None else edit.unit_tokens or 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneReading:
    """One lane, folded."""

    lane: Lane
    events: tuple[Event, ...]
    messages: tuple[Message, ...]
    history: History
    bodies: dict[bytes, str]

    @classmethod
    def of(cls, lane: Lane, events: Iterable[Event], bodies: dict[bytes, str]) -> LaneReading:
        messages: list[Message] = []
        events = tuple(events)
        history = fold(events, CharsAsTokens(), on_message=messages.append)
        return cls(lane=lane, events=events, messages=tuple(messages), history=history, bodies=bodies)

    @property
    def calls(self) -> list[Any]:
        """Model calls that belong to this lane and not to the one it was copied from."""
        return [call for call in self.history.calls if not call.inherited]

    @property
    def listed(self) -> list[Any]:
        """Compactions that the import prints: those with an index."""
        return [folded for folded in self.history.compactions if folded.index is not None]

    def count(self, kind: str) -> int:
        return sum(block.kind == kind for message in self.messages if message.records for block in message.blocks)

    def text(self, body: Body | None) -> str:
        return "" if body is None else self.bodies[body.digest]

    def view(self, n: int) -> list[str]:
        """What call n was sent, as texts in order."""
        return [self.text(span.body) for span in view_at(self.history, n)]

    def states(self, n: int) -> list[str]:
        return [span.state for span in view_at(self.history, n)]

    def usage(self, bucket: str) -> int | None:
        figures = [getattr(call.usage, bucket) for call in self.calls]
        known = [figure for figure in figures if figure is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReading:
    verdicts: Counter[str]
    flags: Counter[str]
    lanes: tuple[LaneReading, ...]
    bodies: dict[bytes, str]

    @property
    def only(self) -> LaneReading:
        assert len(self.lanes) == 1
        return self.lanes[0]


def head_of(source: Path | bytes) -> Head:
    return read_head(_opener(source), limits=LIMITS)


def read(importer: Importer, source: Path | bytes) -> SourceReading:
    """Everything that the importer makes of a source, whether or not it would recognise it."""
    reader = importer.reader()
    verdicts, flags, bodies = Counter[str](), Counter[str](), dict[bytes, str]()
    with _opener(source)() as stream:
        layout = head_of(source).layout
        for record in read_records(stream, limits=LIMITS, layout=layout, looks_like_record=importer.looks_like_record):
            reading = reader.feed(record)
            verdicts[reading.verdict] += 1
            flags.update(reading.flags)
            bodies.update((body.digest, body.text) for body in reading.bodies if body.text is not None)
    lanes = tuple(LaneReading.of(lane, tuple(lane.events), bodies) for lane in reader.lanes())
    return SourceReading(verdicts=verdicts, flags=flags, lanes=lanes, bodies=bodies)


def jsonl(records: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def _opener(source: Path | bytes) -> Callable[[], BinaryIO]:
    return (lambda: io.BytesIO(source)) if isinstance(source, bytes) else (lambda: source.open("rb"))
