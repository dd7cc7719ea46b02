"""Several records on one line: glued values, and a torn record with the next one behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise
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


def torn_pieces(raw: bytes, *, max_depth: int, looks_like_record: LooksLikeRecord) -> Iterator[Piece]:
    """The records of a line, given without its 0x0A, that is not one JSON value; none where it holds no whole record.

    The line is gone through twice, because its end decides how its beginning is read, and its values together could be
    more than memory holds. A last fragment that begins like an object is flagged `unfinished`, see `broken`.
    """
    glued, rest = _glued_extent(raw, max_depth)
    starts = _record_starts_at_end(raw, rest, max_depth, looks_like_record)
    is_glued = glued > 1 or (glued == 1 and raw.startswith(b"{", rest))
    if not starts and not is_glued:
        return
    yield from (piece for piece, _ in islice(_glued_values(raw, max_depth), glued))
    if rest < len(raw):
        yield Piece(rest, JsonReading("invalid_json") if starts else broken(raw[rest:]))
    for start, end in pairwise([*starts, len(raw)]):
        yield Piece(start, read_json(raw[start:end].rstrip(_BLANKS), max_depth=max_depth)._replace(verdict="recovered_splice"))


def broken(raw: bytes) -> JsonReading:
    """Verdict on bytes that are no JSON. Where an object begins and does not end they are flagged `unfinished`: at the end
    of a source that is a truncated tail."""
    text = raw.removeprefix(BOM).replace(b"\0", b"").lstrip()
    if text.startswith(b"{") and structure_of(text).unfinished:
        return JsonReading("invalid_json", flags=("unfinished",))
    return JsonReading("invalid_json")


def _glued_extent(raw: bytes, max_depth: int) -> tuple[int, int]:
    """How many whole objects stand side by side at the beginning of the line, and where the rest begins."""
    count = end = 0
    if _GLUE.search(raw):
        for _, end in _glued_values(raw, max_depth):  # noqa: B007 the last one counts
            count += 1
    return count, len(raw) - len(raw[end:].lstrip(_BLANKS)) if count else 0


def _glued_values(raw: bytes, max_depth: int) -> Iterator[tuple[Piece, int]]:
    """The whole objects side by side with which the line begins, each with its end."""
    is_first = True
    for element in scan(raw, ElementScanner(max_bytes=len(raw))):
        reading = read_json(element.content or b"", max_depth=max_depth)
        if not (element.whole and reading.is_value and raw.startswith(b"{", element.offset)):
            return
        piece = Piece(0, reading) if is_first else Piece(element.offset, reading._replace(verdict="recovered_splice"))
        yield piece, element.offset + element.length
        is_first = False


def _record_starts_at_end(raw: bytes, lower: int, max_depth: int, looks_like_record: LooksLikeRecord) -> list[int]:
    """Where the records begin that end the line, behind the fragment that begins at `lower`.

    Read backwards, the last `}` has one matching `{` only, so there is one candidate and no search: linear, whatever the
    fragment holds.
    """
    starts: list[int] = []
    if not raw.rstrip(_BLANKS).endswith(b"}"):
        return starts
    masked = raw.replace(rb"\\", b"__").replace(rb"\"", b"__")
    end = _without_blanks(raw, lower, len(raw))
    while (start := _start_of_object(masked, lower, end)) is not None and start > lower:
        value = read_json(raw[start:end], max_depth=max_depth).value
        if not isinstance(value, dict) or not looks_like_record(value):
            break
        starts.append(start)
        end = _without_blanks(raw, lower, start)
    return starts[::-1]


def _without_blanks(raw: bytes, lower: int, end: int) -> int:
    while end > lower and raw[end - 1] in _BLANKS:
        end -= 1
    return end


def _start_of_object(masked: bytes, lower: int, end: int) -> int | None:
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
        end = masked.rfind(_QUOTE, lower, max(string_end, lower))
    return None
