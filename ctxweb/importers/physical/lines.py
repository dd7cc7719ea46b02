"""Physical lines of a stream, split on 0x0A only, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from ctxweb.importers.physical.records import Position

CHUNK_BYTES = 1024**2


class Line(NamedTuple):
    """One physical line; a tuple because there is one for each of millions of lines.

    `length` includes the line end. `content` does not hold the 0x0A; None when the line is longer than the limit.
    """

    number: int
    offset: int
    length: int
    content: bytes | None


class _Unended:
    """The bytes since the last line end. Above the limit only their number is kept."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self.length = 0

    def add(self, part: bytes) -> None:
        self.length += len(part)
        self._parts.append(part)
        if self.length > self._max_bytes + 1:
            self._parts.clear()

    def take(self) -> tuple[int, bytes | None]:
        """Length and content of the line; empties this."""
        length, content = self.length, b"".join(self._parts)
        self.length = 0
        self._parts.clear()
        return length, content if length == len(content) and _fits(content, self._max_bytes) else None


def _fits(content: bytes, max_bytes: int) -> bool:
    """A carriage return before the 0x0A belongs to the line end, so it does not count."""
    return len(content) <= max_bytes or (len(content) == max_bytes + 1 and content.endswith(b"\r"))


def read_chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK_BYTES):
        yield chunk


def read_lines(stream: BinaryIO, *, max_line_bytes: int, start: Position) -> Iterator[Line]:
    """Lines of `stream`, which must stand at `start.offset`. Nothing follows the last 0x0A."""
    number, offset = start.line, start.offset
    unended = _Unended(max_line_bytes)
    for chunk in read_chunks(stream):
        first, *others = chunk.split(b"\n")
        unended.add(first)
        if not others:
            continue
        length, content = unended.take()
        yield Line(number, offset, length + 1, content)
        number, offset = number + 1, offset + length + 1
        unended.add(others.pop())
        for piece in others:
            yield Line(number, offset, len(piece) + 1, piece if _fits(piece, max_line_bytes) else None)
            number, offset = number + 1, offset + len(piece) + 1
    if unended.length:
        length, content = unended.take()
        yield Line(number, offset, length, content)
