"""Several records on one line: glued values, and a torn record with the next one behind it (reliability.md V5)."""

from __future__ import annotations

import re
from typing import NamedTuple

from ctxweb.importers.physical.elements import ElementScanner, scan
from ctxweb.importers.physical.records import LooksLikeRecord
from ctxweb.importers.physical.structure import structure_of
from ctxweb.importers.physical.values import BOM, JsonReading, read_json

_BLANKS = b" \t\r\n\v\f\0"
_GLUE = re.compile(rb"\}[ \t\r\n\0]*\{")
_QUOTE, _OPENING, _CLOSING, _OBJECT_CLOSES = b'"', b"[{", b"]}", ord("}")


class Piece(NamedTuple):
    """One record of a line: where it begins in the line, and what was read there. It ends where the next one begins."""

    start: int
    reading: JsonReading


def split_torn(raw: bytes, *, max_depth: int, looks_like_record: LooksLikeRecord) -> list[Piece]:
    """The records of a line, given without its 0x0A, that is not one JSON value; none where it holds no whole record.

    A last fragment that begins like an object is flagged `unfinished`, see `broken`.
    """
    glued, rest = _glued_values(raw, max_depth)
    if rest == len(raw):
        return glued
    recovered = _records_at_end(raw, rest, max_depth, looks_like_record)
    if recovered:
        return [*glued, Piece(rest, JsonReading("invalid_json")), *recovered]
    if glued and raw.startswith(b"{", rest):
        return [*glued, Piece(rest, broken(raw[rest:]))]
    return []


def broken(raw: bytes) -> JsonReading:
    """Verdict on bytes that are no JSON. Where an object begins and does not end they are flagged `unfinished`: at the end
    of a source that is a truncated tail (V7)."""
    text = raw.removeprefix(BOM).replace(b"\0", b"").lstrip()
    if text.startswith(b"{") and structure_of(text).unfinished:
        return JsonReading("invalid_json", flags=("unfinished",))
    return JsonReading("invalid_json")


def _glued_values(raw: bytes, max_depth: int) -> tuple[list[Piece], int]:
    """The whole objects side by side with which the line begins, and where the rest begins."""
    pieces: list[Piece] = []
    if not _GLUE.search(raw):
        return pieces, 0
    for element in scan(raw, ElementScanner(max_bytes=len(raw))):
        reading = read_json(element.content or b"", max_depth=max_depth)
        if not (element.whole and reading.is_value and raw.startswith(b"{", element.offset)):
            return pieces, element.offset if pieces else 0
        pieces.append(Piece(element.offset, _recovered(reading)) if pieces else Piece(0, reading))
    return pieces, len(raw)


def _recovered(reading: JsonReading) -> JsonReading:
    return reading._replace(verdict="recovered_splice")


def _records_at_end(raw: bytes, lower: int, max_depth: int, looks_like_record: LooksLikeRecord) -> list[Piece]:
    """The records that end the line, behind the fragment that begins at `lower`.

    Read backwards, the last `}` has one matching `{` only, so there is one candidate and no search: linear, whatever the
    fragment holds.
    """
    masked = raw.replace(rb"\\", b"__").replace(rb"\"", b"__")
    found: list[Piece] = []
    end = _without_blanks(raw, lower, len(raw))
    while (start := _start_of_object(masked, lower, end, max_depth)) is not None and start > lower:
        reading = read_json(raw[start:end], max_depth=max_depth)
        if not isinstance(reading.value, dict) or not looks_like_record(reading.value):
            break
        found.append(Piece(start, _recovered(reading)))
        end = _without_blanks(raw, lower, start)
    return found[::-1]


def _without_blanks(raw: bytes, lower: int, end: int) -> int:
    while end > lower and raw[end - 1] in _BLANKS:
        end -= 1
    return end


def _start_of_object(masked: bytes, lower: int, end: int, max_depth: int) -> int | None:
    """Where the object that ends at `end` begins; None when nothing fits. `masked` has no escapes, so each quote counts."""
    if end <= lower or masked[end - 1] != _OBJECT_CLOSES:
        return None
    depth = 0
    while end > lower:
        string_end = masked.rfind(_QUOTE, lower, end)
        for at in range(end - 1, max(string_end, lower - 1), -1):
            byte = masked[at]
            depth += 1 if byte in _CLOSING else -1 if byte in _OPENING else 0
            if depth == 0:
                return at
            if depth > max_depth:
                return None
        end = masked.rfind(_QUOTE, lower, max(string_end, lower))
    return None
