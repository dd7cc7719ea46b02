"""The parsing stage: each record gets its verdict, its place and its digest; the texts that it brings are stored.

Records are committed in batches, with the texts they bring and the offset reached, in one transaction. A run that goes
on after another feeds the reader from the start again and writes nothing that is committed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from django.db.models import Max

from compaction.messages import Body
from ctxweb.importers.base import Reader, Reading
from ctxweb.importers.physical import RawRecord
from ctxweb.jobs import JobRun
from ctxweb.models import Record, Source
from ctxweb.services.importing.bodies import bodies_store
from ctxweb.services.importing.errors import ImportRefused
from ctxweb.services.importing.tables import BATCH_ROWS, rows_insert

VERDICTS = (
    "ok", "unknown_type", "recovered_splice", "nul_padding", "invalid_json", "invalid_utf8", "oversize", "too_deep", "duplicate",
    "truncated_tail", "blank",
)  # fmt: skip
BATCH_CHARS = 1_000_000
CHECK_RECORDS = 2_000  # how often a run that writes nothing looks whether it should stop
PIECE_BYTES = 1024**2
TYPE_CHARS = 80
_COLUMNS = ("source_id", "number", "line", "offset", "length", "digest", "verdict", "type", "flags")


@dataclass(slots=True)
class Parsed:
    """What the records of a source say together. `verdicts` holds one index into VERDICTS a record, in order."""

    reader: Reader
    digests: set[bytes] = field(default_factory=set)
    verdicts: bytearray = field(default_factory=bytearray)
    unknown_types: Counter[str] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    end: int = 0

    def take(self, record: RawRecord) -> Reading:
        reading = self.reader.feed(record)
        self.verdicts.append(VERDICTS.index(reading.verdict))
        self.flags.update(_flags(record, reading))
        self.digests.update(body.digest for body in reading.bodies)
        if reading.verdict == "unknown_type":
            self.unknown_types[reading.type[:TYPE_CHARS]] += 1
        self.end = record.offset + record.length
        return reading

    def counts(self) -> dict[str, int]:
        """How many records have each verdict; only those that occur."""
        return {VERDICTS[index]: count for index, count in sorted(Counter(self.verdicts).items())}


def source_parse(*, run: JobRun, source: Source, records: Iterator[RawRecord], stream: BinaryIO, reader: Reader, kept: int) -> Parsed:
    """Read all records of the source; store those that are not stored yet.

    `stream` is a second reading of the same bytes, for the digests. `kept` first records are stored under another source,
    an earlier state of this one.
    """
    last = Record.objects.filter(source=source).aggregate(last=Max("number"))["last"]
    writer = _Writer(run=run, source=source, stored=last or kept, digest=Follower(stream).digest)
    parsed = Parsed(reader=reader)
    for record in records:
        reading = parsed.take(record)
        writer.add(record, reading)
    writer.flush()
    return parsed


@dataclass(slots=True)
class _Writer:
    run: JobRun
    source: Source
    stored: int
    digest: Callable[[int, int], bytes]
    _rows: list[tuple[Any, ...]] = field(default_factory=list)
    _bodies: list[Body] = field(default_factory=list)
    _chars: int = 0
    _end: int = 0

    def add(self, record: RawRecord, reading: Reading) -> None:
        if record.number <= self.stored:
            if record.number % CHECK_RECORDS == 0:
                self.run.check()
            return
        self._end = record.offset + record.length
        self._rows.append(
            (self.source.pk, record.number, record.line, record.offset, record.length, self.digest(record.offset, record.length),
             reading.verdict, reading.type[:TYPE_CHARS], ",".join(_flags(record, reading))[:200])
        )  # fmt: skip
        self._bodies.extend(reading.bodies)
        self._chars += sum(body.chars for body in reading.bodies)
        if len(self._rows) >= BATCH_ROWS or self._chars >= BATCH_CHARS:
            self.flush()

    def flush(self) -> None:
        if not self._rows:
            return
        with self.run.commit(stage="parsing", unit="bytes", done=self._end, total=self.source.stream_size):
            rows_insert(Record, _COLUMNS, self._rows)
            bodies_store(bodies=self._bodies)
        self._rows, self._bodies, self._chars = [], [], 0


class Follower:
    """Reads behind the records, so that the digest of one needs no copy of its bytes, however long it is."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._at = 0

    def digest(self, offset: int, length: int) -> bytes:
        """SHA-256 of the bytes from `offset` on; offsets must not go back."""
        for _ in self._pieces(offset - self._at):
            pass
        digest = hashlib.sha256()
        for piece in self._pieces(length):
            digest.update(piece)
        return digest.digest()

    def _pieces(self, length: int) -> Iterator[bytes]:
        while length > 0:
            piece = self._stream.read(min(length, PIECE_BYTES))
            if not piece:
                raise ImportRefused("source_changed", f"The raw bytes end at {self._at:,}, inside a record: they have changed on the disk.")
            self._at += len(piece)
            length -= len(piece)
            yield piece


def _flags(record: RawRecord, reading: Reading) -> tuple[str, ...]:
    """What is odd about a record, each word once: a reader may repeat what the bytes told already."""
    return tuple(dict.fromkeys((*record.flags, *reading.flags)))
