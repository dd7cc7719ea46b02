"""Raw bytes that are packed: read as the import read them, forward only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from compaction.sources.base import Bounds
from compaction.sources.files import PIECE_BYTES, NotFoundSource
from ctxweb.importers.physical import PhysicalError
from ctxweb.importers.physical.unpack import open_stream
from ctxweb.services.importing.intake import read_limits
from ctxweb.storage import blob_path


@dataclass(slots=True, kw_only=True)
class UnpackedBytes:
    """An unpacked stream. Records are asked for in the order of their offsets, so one pass serves all of a session."""

    stream: BinaryIO
    _at: int = field(default=0, init=False)

    def read_at(self, offset: int, length: int, bounds: Bounds) -> bytes:
        """The bytes; fewer where the stream ends before."""
        while self._at < offset and self._read(offset - self._at, bounds):
            pass
        parts: list[bytes] = []
        while length > 0 and (piece := self._read(length, bounds)):
            parts.append(piece)
            length -= len(piece)
        return b"".join(parts)

    def _read(self, most: int, bounds: Bounds) -> bytes:
        piece = self.stream.read(min(most, PIECE_BYTES))
        self._at += len(piece)
        bounds.spend(len(piece))
        return piece


@contextmanager
def unpacked(*, sha256: str, member: str) -> Iterator[UnpackedBytes]:
    """The stream of a member ("" where the file is no archive). Raises OSError, and NotFoundSource where the stored bytes hold
    it no more."""
    try:
        members = open_stream(blob_path(sha256), limits=read_limits()).members
        found = next((one for one in members if (one.name or "") == member), None)
        if found is None:
            raise NotFoundSource("corrupt", "transcript_digest_mismatch")
        with found.open() as stream:
            yield UnpackedBytes(stream=stream)
    except PhysicalError:
        raise NotFoundSource("corrupt", "transcript_digest_mismatch") from None
