"""A stream out of an archive that stops at the limits and speaks of damage in one way."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Protocol

import zstandard

from ctxweb.importers.physical.errors import BadArchive, TooLarge
from ctxweb.importers.physical.records import ReadLimits

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    zstandard.ZstdError,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
"""What the packers of the standard library raise on damaged bytes, beside an `OSError` that has no number."""


class Source(Protocol):
    """What is read from: at most `size` bytes at a time, none at the end."""

    def read(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...


class Metered(io.RawIOBase):
    """Reads `source` and counts: too many bytes, or too many for what was packed, raise `TooLarge`; damage `BadArchive`.

    Closing it closes `source` and the `archive` that it came from.
    """

    def __init__(self, source: Source, *, packed_bytes: int, limits: ReadLimits, archive: zipfile.ZipFile | None = None) -> None:
        self._source = source
        self._archive = archive
        self._limits = limits
        self._packed = packed_bytes
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        room = memoryview(buffer).cast("B")
        chunk = self._read(len(room))
        self._count += len(chunk)
        self._check()
        room[: len(chunk)] = chunk
        return len(chunk)

    def _read(self, size: int) -> bytes:
        try:
            return self._source.read(size)
        except ARCHIVE_ERRORS as error:
            raise self._damaged() from error
        except OSError as error:
            if error.errno is not None:
                raise
            raise self._damaged() from error

    def _damaged(self) -> BadArchive:
        return BadArchive(
            f"The packed source is damaged or cut, {self._count:,} bytes into what it holds. Pack it again, or import the plain file."
        )

    def _check(self) -> None:
        limits = self._limits
        if self._count > limits.max_expanded_bytes:
            raise TooLarge(
                f"The packed source holds more than the limit of {limits.max_expanded_bytes:,} bytes. "
                "Split it, or raise the limit for unpacked bytes."
            )
        if self._count > max(limits.ratio_free_bytes, limits.max_ratio * self._packed):
            raise TooLarge(
                f"The packed source grows more than {limits.max_ratio}-fold ({self._packed:,} bytes became {self._count:,}). "
                "If it is no trap, import the plain file."
            )

    def close(self) -> None:
        self._source.close()
        if self._archive is not None:
            self._archive.close()
        super().close()
