"""The raw bytes of records of a source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO

from ctxweb.importers.physical import PhysicalError
from ctxweb.models import Record, Source
from ctxweb.services.importing.errors import ImportRefused
from ctxweb.services.importing.intake import member_of
from ctxweb.storage import PIECE_BYTES, StorageError

_UNREADABLE = (ImportRefused, PhysicalError, StorageError, OSError)


class RecordUnreadable(Exception):
    """The bytes of a record cannot be read; the message says why and what to do."""


def record_read(*, source: Source, offset: int, length: int) -> bytes:
    """The `length` bytes at `offset` of the unpacked stream of `source`. Raises RecordUnreadable."""
    return b"".join(record_pieces(source=source, offset=offset, length=length))


def record_pieces(*, source: Source, offset: int, length: int) -> Iterator[bytes]:
    """The same bytes in pieces of at most 1 MiB, the first of which is read at once. Raises RecordUnreadable."""
    pieces = _pieces(source, offset, length)
    try:
        return chain([next(pieces, b"")], pieces)
    except _UNREADABLE as error:
        raise _unreadable(source, error) from error


def records_differ(*, source: Source, records: Iterable[Record]) -> int | None:
    """The number of the first of the `records`, in the order of the file, whose stored bytes are not those that were imported;
    None where all are. Reads them one after another. Raises RecordUnreadable."""
    try:
        with member_of(source=source).open() as stream:
            place = 0
            for record in records:
                if record.offset < place:
                    continue  # part of a record that was read
                _move_to(stream, record.offset, place)
                if _sha256(stream, record.length) != bytes(record.digest):
                    return record.number
                place = record.offset + record.length
    except _UNREADABLE as error:
        raise _unreadable(source, error) from error
    return None


def _unreadable(source: Source, error: Exception) -> RecordUnreadable:
    what = f"The raw bytes of source {source.sha256[:12]}… cannot be read"
    if isinstance(error, OSError):
        return RecordUnreadable(f"{what} ({error.strerror}): restore them from a backup of the state folder, or import the file again.")
    return RecordUnreadable(f"{what}: {error}")


def _sha256(stream: BinaryIO, length: int) -> bytes:
    digest = hashlib.sha256()
    while length > 0 and (piece := stream.read(min(length, PIECE_BYTES))):
        digest.update(piece)
        length -= len(piece)
    return digest.digest()


def _pieces(source: Source, offset: int, length: int) -> Iterator[bytes]:
    with member_of(source=source).open() as stream:
        _move_to(stream, offset)
        while length > 0 and (piece := stream.read(min(length, PIECE_BYTES))):
            length -= len(piece)
            yield piece


def _move_to(stream: BinaryIO, offset: int, place: int = 0) -> None:
    """From `place`, where the stream stands, on to `offset`."""
    if stream.seekable():
        stream.seek(offset)
        return
    offset -= place
    while offset > 0 and (skipped := stream.read(min(offset, PIECE_BYTES))):
        offset -= len(skipped)
