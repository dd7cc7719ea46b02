"""The raw bytes of one record of a source."""

from __future__ import annotations

from typing import BinaryIO

from ctxweb.importers.physical import PhysicalError
from ctxweb.models import Source
from ctxweb.services.importing.errors import ImportRefused
from ctxweb.services.importing.intake import member_of
from ctxweb.storage import StorageError

SKIP_BYTES = 1024**2


class RecordUnreadable(Exception):
    """The bytes of a record cannot be read; the message says why and what to do."""


def record_read(*, source: Source, offset: int, length: int) -> bytes:
    """The `length` bytes at `offset` of the unpacked stream of `source`. Raises RecordUnreadable."""
    try:
        with member_of(source=source).open() as stream:
            _move_to(stream, offset)
            return stream.read(length)
    except (ImportRefused, PhysicalError, StorageError, OSError) as error:
        raise RecordUnreadable(f"The raw bytes of source {source.sha256[:12]}… cannot be read: {error}") from error


def _move_to(stream: BinaryIO, offset: int) -> None:
    if stream.seekable():
        stream.seek(offset)
        return
    while offset > 0 and (skipped := stream.read(min(offset, SKIP_BYTES))):
        offset -= len(skipped)
