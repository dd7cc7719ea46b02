"""UTF-16 with a byte order mark becomes UTF-8, as a stream."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_BOM_BYTES = 2
_CHUNK_BYTES = 256 * 1024


def open_utf8(open_raw: Callable[[], BinaryIO]) -> BinaryIO:
    """The same text in UTF-8. All but UTF-16 with a byte order mark is passed through, byte for byte."""
    with open_raw() as stream:
        encoding = _UTF_16.get(stream.read(_BOM_BYTES))
    if encoding is None:
        return open_raw()
    return io.BufferedReader(_Transcoded(open_raw(), encoding), _CHUNK_BYTES)


class _Transcoded(io.RawIOBase):
    """UTF-8 of a UTF-16 stream, without its mark. A lone surrogate becomes three bytes that are not UTF-8, so that its
    record gets its verdict; half a unit at the end becomes U+FFFD."""

    def __init__(self, source: BinaryIO, encoding: str) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
        self._pending = b""
        self._ended = False
        source.read(_BOM_BYTES)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._pending and not self._ended:
            self._pending = self._next()
        room = memoryview(buffer).cast("B")
        part, self._pending = self._pending[: len(room)], self._pending[len(room) :]
        room[: len(part)] = part
        return len(part)

    def _next(self) -> bytes:
        chunk = self._source.read(_CHUNK_BYTES)
        if chunk:
            return self._decoder.decode(chunk).encode(errors="surrogatepass")
        self._ended = True
        undecoded, _ = self._decoder.getstate()
        return "\N{REPLACEMENT CHARACTER}".encode() if undecoded else b""

    def close(self) -> None:
        self._source.close()
        super().close()
