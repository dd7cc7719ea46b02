"""The raw bytes of one record of a source."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from ctxweb.importers.physical import PhysicalError
from ctxweb.models import Source
from ctxweb.services.importing.errors import ImportRefused
from ctxweb.services.importing.intake import member_of
from ctxweb.storage import PIECE_BYTES, StorageError


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
    except (ImportRefused, PhysicalError, StorageError) as error:
        raise RecordUnreadable(f"The raw bytes of source {source.sha256[:12]}… cannot be read: {error}") from error
    except OSError as error:
        raise RecordUnreadable(
            f"The raw bytes of source {source.sha256[:12]}… cannot be read ({error.strerror}): "
            "restore them from a backup of the state folder, or import the file again."
        ) from error


def _pieces(source: Source, offset: int, length: int) -> Iterator[bytes]:
    with member_of(source=source).open() as stream:
        _move_to(stream, offset)
        while length > 0 and (piece := stream.read(min(length, PIECE_BYTES))):
            length -= len(piece)
            yield piece


def _move_to(stream: BinaryIO, offset: int) -> None:
    if stream.seekable():
        stream.seek(offset)
        return
    while offset > 0 and (skipped := stream.read(min(offset, PIECE_BYTES))):
        offset -= len(skipped)
