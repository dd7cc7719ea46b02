"""`transcript:<session>:<sequence>` where the session was imported: a record of its stored bytes, proved by a record table.

The caller vouches for the table: where each record lies, and its SHA-256. So a record is read alone, whatever stands before
it and however long it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from compaction.errors import SourceSystemError
from compaction.sources.base import Bounds, Found
from compaction.sources.events import excerpt_of, read_object, without_end
from compaction.sources.files import FileRules, NotFoundSource, OpenFile, Root, checked_file, look, read_at
from compaction.sources.pointers import SourcePointer
from compaction.sources.resolution import Finding
from compaction.sources.transcript import TranscriptGrammar

BAD_VERDICTS: Mapping[str, str] = {
    "oversize": "transcript_record_too_large",
    "invalid_json": "transcript_invalid_json",
    "truncated_tail": "transcript_invalid_json",
    "blank": "transcript_invalid_json",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPlace:
    """Where a record lies: `source` names its bytes, `offset` and `length` count them, `sha256` is the raw digest of exactly
    these, `verdict` that of the import."""

    source: str
    offset: int
    length: int
    sha256: bytes
    verdict: str = "ok"


class RecordBytes(Protocol):
    """The bytes of one source, open for reading."""

    def read_at(self, offset: int, length: int, bounds: Bounds) -> bytes:
        """Up to `length` bytes from `offset`; fewer where the source ends before. May raise OSError."""


class RecordTable(Protocol):
    """What a caller knows of the sessions that it imported."""

    def places(self, session_id: str, numbers: Sequence[int]) -> Mapping[int, RecordPlace] | None:
        """The places of the records that there are; None for a session that is not known."""

    def opened(self, source: str) -> AbstractContextManager[RecordBytes]:
        """The bytes of a source, unpacked as the offsets mean them. May raise OSError; FileNotFoundError where they are gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBytes:
    """Bytes of an open file."""

    descriptor: int

    def read_at(self, offset: int, length: int, bounds: Bounds) -> bytes:
        return read_at(self.descriptor, offset, length, bounds)

    @classmethod
    def checked(cls, file: OpenFile, root: Root, rules: FileRules, bounds: Bounds) -> FileBytes:
        """Those of a file below a root, if it is one that may be read. Raises NotFoundSource."""
        checked_file(file, root, "transcript", rules, bounds.most_source_bytes)
        return cls(descriptor=file.descriptor)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTranscripts:
    """Imported sessions. `<sequence>` is the number of the record in the import report."""

    table: RecordTable
    name: Literal["transcript"] = "transcript"

    def parse(self, raw: str) -> SourcePointer:
        return TranscriptGrammar().parse(raw)

    def find(self, session_id: str, pointers: Sequence[SourcePointer], bounds: Bounds) -> list[Found]:
        """All pointers of a session: one question to the table, each source opened once and read in the order of its bytes."""
        bounds.start()
        numbers = [pointer.sequence or 0 for pointer in pointers]
        places = self.table.places(session_id, numbers)
        if places is None:
            return [Finding(status="missing", reason="transcript_missing")] * len(pointers)
        found: dict[int, Found] = {}
        for source in sorted({place.source for place in places.values()}):
            found |= self._find_in(source, {number: place for number, place in places.items() if place.source == source}, bounds)
        missing = Finding(status="missing", reason="transcript_event_missing")
        return [found.get(number, missing) for number in numbers]

    def _find_in(self, source: str, places: Mapping[int, RecordPlace], bounds: Bounds) -> Mapping[int, Found]:
        ordered = sorted(places, key=lambda number: places[number].offset)

        def attempt() -> list[Finding]:
            with self.table.opened(source) as stored:
                return [_verified(stored, places[number], bounds) for number in ordered]

        try:
            return dict(zip(ordered, look(attempt, self.name, len(ordered)), strict=True))
        except SourceSystemError as error:
            return dict.fromkeys(ordered, error)


def _verified(stored: RecordBytes, place: RecordPlace, bounds: Bounds) -> Finding:
    if place.verdict in BAD_VERDICTS:
        return Finding(status="corrupt", reason=BAD_VERDICTS[place.verdict])
    raw = stored.read_at(place.offset, place.length, bounds)
    if hashlib.sha256(raw).digest() != place.sha256:
        return Finding(status="corrupt", reason="transcript_digest_mismatch")
    line = without_end(raw)
    return Finding(
        status="available",
        reason="verified_transcript_event",
        evidence_sha256=hashlib.sha256(line).hexdigest(),
        excerpt=_excerpt(line)[: bounds.excerpt_chars] if bounds.excerpts else None,
    )


def _excerpt(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    try:
        return excerpt_of(read_object(text)) or text
    except NotFoundSource:
        return text
