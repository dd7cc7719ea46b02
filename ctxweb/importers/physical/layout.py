"""How the JSON values of a source are laid out."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import islice
from typing import BinaryIO, NamedTuple

from ctxweb.importers.physical.elements import Container, Element, ElementScanner, read_elements
from ctxweb.importers.physical.lines import Line, read_lines
from ctxweb.importers.physical.records import Layout, Position, ReadLimits
from ctxweb.importers.physical.splices import torn_pieces
from ctxweb.importers.physical.structure import structure_of
from ctxweb.importers.physical.values import is_blank, read_json

Opener = Callable[[], BinaryIO]
"""Gives a new stream of the unpacked source in UTF-8, standing at its beginning."""


class _FirstLine(NamedTuple):
    line: Line
    is_only: bool


def detect_layout(open_source: Opener, *, limits: ReadLimits) -> Layout:
    """The layout. Reads up to the second line that is not blank; the whole source only where its first line
    is no whole value, or longer than the limit.

    A source that holds one object is a `document`, on however many lines: a format of lines reads it as its one record.
    An array or a sequence whose last value is cut keeps its layout, so that only that value is lost.
    """
    with open_source() as stream:
        first = _first_line(stream, limits)
    if first is None:
        return "lines"
    content = first.line.content
    if content is not None:
        reading = read_json(content, max_depth=limits.max_depth)
        if reading.is_value:
            return _layout_of_only_value(reading.value) if first.is_only else "lines"
        if _is_glued(content, limits) or (structure_of(content).in_string and not first.is_only):
            return "lines"  # no JSON string goes on in the next line
    return _layout_of_whole(open_source, first, limits)


def _first_line(stream: BinaryIO, limits: ReadLimits) -> _FirstLine | None:
    lines = read_lines(stream, max_line_bytes=limits.max_line_bytes, start=Position())
    filled = (line for line in lines if line.content is None or not is_blank(line.content))
    first = next(filled, None)
    return None if first is None else _FirstLine(first, next(filled, None) is None)


def _layout_of_only_value(value: object) -> Layout:
    if isinstance(value, list):
        return "array"
    return "document" if isinstance(value, dict) else "lines"


def _is_glued(content: bytes, limits: ReadLimits) -> bool:
    pieces = torn_pieces(content, max_depth=limits.max_depth, looks_like_record=lambda _: False)
    verdicts = [piece.reading.verdict for piece in pieces]
    return bool(verdicts) and "invalid_json" not in verdicts


def _layout_of_whole(open_source: Opener, first: _FirstLine, limits: ReadLimits) -> Layout:
    array = _survey(open_source, limits, "array")
    if array.is_sound and (not array.is_open or first.is_only):
        return "array"
    values = _survey(open_source, limits, None)
    if not values.is_sound:
        return "lines"
    if values.whole == 1 and not values.is_cut:
        return "document"
    ends_in_first_line = values.first_end <= first.line.offset + first.line.length
    return "lines" if ends_in_first_line else "values"


class _Survey(NamedTuple):
    """What a whole source looks like as one container or as a sequence: `whole` values, the first of which ends at
    byte `first_end`; whether a cut one follows, or the container has no end; whether nothing speaks against this layout.

    An array without an end, but with whole elements only, could as well be a broken first line before lines of records.
    """

    whole: int
    first_end: int
    is_cut: bool
    is_open: bool
    is_sound: bool


def _survey(open_source: Opener, limits: ReadLimits, enter: Container | None) -> _Survey:
    scanner = ElementScanner(max_bytes=limits.max_line_bytes, enter=enter)
    whole = first_end = 0
    with open_source() as stream:
        for element in read_elements(stream, scanner):
            if not element.whole:
                return _Survey(whole, first_end, True, False, whole > 0 and _is_one_cut_value(element, limits))
            if element.inside != (enter is not None) or not _is_value(element, limits):
                return _Survey(whole, first_end, False, False, False)
            whole += 1
            first_end = first_end or element.offset + element.length
    return _Survey(whole, first_end, False, enter is not None and not scanner.closed, True)


def _is_value(element: Element, limits: ReadLimits) -> bool:
    return element.content is None or read_json(element.content, max_depth=limits.max_depth).is_value


def _is_one_cut_value(element: Element, limits: ReadLimits) -> bool:
    """Whether the source ends inside one value, and not in lines of records behind a broken one."""
    if element.content is None:
        return False
    lines = islice(io.BytesIO(element.content), 1, None)
    return not any(line.startswith(b"{") and read_json(line, max_depth=limits.max_depth).is_value for line in lines)
