"""A streaming scanner that finds the JSON values of an array, or of a sequence, by their brackets and quotes.

It builds no objects, uses no recursion and keeps the bytes of the value that it stands in, up to a limit. It does not
judge: a value with balanced brackets may still be broken inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO, Literal, NamedTuple

from ctxweb.importers.physical.lines import read_chunks
from ctxweb.importers.physical.records import RawRecord, ReadLimits
from ctxweb.importers.physical.values import BOM, OVERSIZE, JsonReading, read_json

# All are possessive, so that a string of millions of escapes needs no memory for ways back.
_BETWEEN = re.compile(rb"[ \t\r\n\0]*+")
_BETWEEN_INSIDE = {"array": re.compile(rb"[ \t\r\n\0,]*+"), "object": re.compile(rb"[ \t\r\n\0,:]*+")}
_SCALAR = re.compile(rb"[^ \t\r\n\0,\[\]{}\"]*+")
_STRING = re.compile(rb"[^\"\\]*+(?:\\.[^\"\\]*+)*+", re.DOTALL)
_UNTIL_BRACKET = re.compile(rb"[^\"\[\]{}]*+(?:\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"[^\"\[\]{}]*+)*+", re.DOTALL)

_QUOTE, _BACKSLASH = ord('"'), ord("\\")
_OPENING = b"[{"
_BRACKETS = {"array": (ord("["), ord("]")), "object": (ord("{"), ord("}"))}

Container = Literal["array", "object"]


class Element(NamedTuple):
    """One value. `content` is None above the limit; `whole` is False when the stream ends inside it; `inside`: it is part
    of the container that the scanner was told to enter."""

    offset: int
    length: int
    content: bytes | None
    whole: bool
    inside: bool


class ElementScanner:
    """Feed it chunks; it yields the values that end in them. `finish` yields what the end of the stream cut.

    A container that is to be entered, and stands first, is not a value: its elements are; of an object, keys and values
    by turns. After its end (`closed`) values are found as in a sequence: the caller decides what they mean.
    """

    def __init__(self, *, max_bytes: int, enter: Container | None = None) -> None:
        self._max_bytes = max_bytes
        self._enter = enter
        self._at_first = True
        self._inside = False
        self.closed = False
        self._mode: Literal["between", "scalar", "string", "structure"] = "between"
        self._escaped = False
        self._depth = 0
        self._base = 0  # offset of the chunk that is being fed
        self._offset = 0  # offset of the value that is being read
        self._from = 0  # where its bytes begin in this chunk
        self._length = 0
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[Element]:
        at = len(BOM) if self._base == 0 and chunk.startswith(BOM) else 0
        while at < len(chunk):
            if self._mode == "between":
                at = self._begin(chunk, at)
                continue
            at, ended = self._advance(chunk, at)
            if ended:
                yield self._take(chunk, at)
        if self._mode != "between":
            self._keep(chunk[self._from :])
        self._from = 0
        self._base += len(chunk)

    def finish(self) -> Iterator[Element]:
        if self._mode != "between":
            self._from = 0
            yield self._take(b"", 0, whole=self._mode == "scalar")

    def _begin(self, chunk: bytes, at: int) -> int:
        """Over what lies between values, and over the first byte of the next one."""
        at = _end(_BETWEEN_INSIDE[self._enter] if self._enter and self._inside else _BETWEEN, chunk, at)
        if at == len(chunk):
            return at
        byte = chunk[at]
        opens, closes = _BRACKETS[self._enter] if self._enter else (None, None)
        if self._at_first and byte == opens:
            self._inside = True
        elif self._inside and byte == closes:
            self._inside, self.closed = False, True
        else:
            self._offset, self._from = self._base + at, at
            self._depth = 1 if byte in _OPENING else 0
            self._mode = "structure" if byte in _OPENING else "string" if byte == _QUOTE else "scalar"
        self._at_first = False
        return at + 1

    def _advance(self, chunk: bytes, at: int) -> tuple[int, bool]:
        """Where reading goes on, and whether the value has ended there."""
        if self._mode == "scalar":
            at = _end(_SCALAR, chunk, at)
            return at, at < len(chunk)
        if self._mode == "string":
            return self._advance_string(chunk, at)
        at = _end(_UNTIL_BRACKET, chunk, at)
        if at == len(chunk):
            return at, False
        if chunk[at] == _QUOTE:  # a string that does not end in this chunk
            self._mode = "string"
        else:
            self._depth += 1 if chunk[at] in _OPENING else -1
        return at + 1, self._depth == 0

    def _advance_string(self, chunk: bytes, at: int) -> tuple[int, bool]:
        if self._escaped:
            self._escaped = False
            return at + 1, False
        at = _end(_STRING, chunk, at)
        if at == len(chunk):
            return at, False
        if chunk[at] == _BACKSLASH:  # the last byte of the chunk
            self._escaped = True
            return at + 1, False
        self._mode = "structure"
        return at + 1, self._depth == 0

    def _keep(self, part: bytes) -> None:
        self._length += len(part)
        self._parts.append(part)
        if self._length > self._max_bytes:
            self._parts.clear()

    def _take(self, chunk: bytes, end: int, *, whole: bool = True) -> Element:
        self._keep(chunk[self._from : end])
        fits = self._length <= self._max_bytes
        element = Element(self._offset, self._length, b"".join(self._parts) if fits else None, whole, self._inside)
        self._parts.clear()
        self._length, self._mode, self._escaped = 0, "between", False
        return element


def _end(pattern: re.Pattern[bytes], chunk: bytes, at: int) -> int:
    """Where the run that `pattern` matches at `at` ends; every pattern here matches the empty run."""
    run = pattern.match(chunk, at)
    return run.end() if run else at


def scan(raw: bytes, scanner: ElementScanner) -> Iterator[Element]:
    """The values of bytes that are all there."""
    yield from scanner.feed(raw)
    yield from scanner.finish()


def read_elements(stream: BinaryIO, scanner: ElementScanner) -> Iterator[Element]:
    opening = b""
    while len(opening) < len(BOM) and (part := stream.read(len(BOM) - len(opening))):
        opening += part
    for chunk in chain([opening], read_chunks(stream)):
        yield from scanner.feed(chunk)
    yield from scanner.finish()


def element_records(elements: Iterator[Element], limits: ReadLimits) -> Iterator[RawRecord]:
    """Elements as records; `line` is the number of the element."""
    for number, element in enumerate(elements, start=1):
        verdict, value, flags = _read_element(element, limits)
        yield RawRecord(
            number=number,
            line=number,
            offset=element.offset,
            length=element.length,
            verdict=verdict,
            value=value,
            flags=flags,
        )


def _read_element(element: Element, limits: ReadLimits) -> JsonReading:
    if element.content is None:
        return OVERSIZE
    if not element.whole:
        is_record = element.content.startswith(b"{")
        return JsonReading("truncated_tail" if is_record else "invalid_json", flags=("unfinished",))
    return read_json(element.content, max_depth=limits.max_depth)
