"""The records of a stream: each physical line or element with its verdict, in order and in bounded memory."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from ctxweb.importers.physical.documents import read_document
from ctxweb.importers.physical.elements import Element, ElementScanner, element_records, read_elements
from ctxweb.importers.physical.errors import TooManyRecords
from ctxweb.importers.physical.lines import CHUNK_BYTES, Line, read_lines
from ctxweb.importers.physical.records import Layout, LooksLikeRecord, Position, RawRecord, ReadLimits
from ctxweb.importers.physical.splices import Piece, broken, torn_pieces
from ctxweb.importers.physical.values import OVERSIZE, JsonReading, read_json

# Blank lines after an unfinished record are held back until it is known whether the source ends there.
_HELD_BLANKS = 10_000

_MAY_HOLD_RECORDS = frozenset({"invalid_json", "too_deep"})


def read_records(
    stream: BinaryIO,
    *,
    limits: ReadLimits,
    layout: Layout,
    looks_like_record: LooksLikeRecord,
    start: Position | None = None,
    is_cut: bool = False,
) -> Iterator[RawRecord]:
    """The records of `stream`, unpacked UTF-8 that stands at its beginning. `is_cut`: more was appended to the source, of which
    nothing can be read; a last record without bytes stands for it.

    Arbitrary bytes give verdicts, never exceptions; more records than the limit raise `TooManyRecords`, a document above
    its limit `TooLarge`. Layout `lines` can start again at a `Position`. Layout `document` gives the whole object as one
    record; `document_records` gives the elements of its main array.
    """
    if start is not None and layout != "lines":
        raise ValueError(f"layout {layout!r} is read from its beginning only")
    records = _records(stream, limits, layout, looks_like_record, start or Position())
    for record in _with_cut(records) if is_cut else records:
        if record.number > limits.max_records:
            raise TooManyRecords(
                f"The source holds more than {limits.max_records:,} records (reached at byte {record.offset:,}). "
                "Split it, or raise the limit for records of an import."
            )
        yield record


def _with_cut(records: Iterator[RawRecord]) -> Iterator[RawRecord]:
    last: RawRecord | None = None
    for last in records:
        yield last
    if last is not None:
        end = last.offset + last.length
        flags = ("cut_frame",)
        yield RawRecord(number=last.number + 1, line=last.line + 1, offset=end, length=0, verdict="truncated_tail", value=None, flags=flags)


def _records(
    stream: BinaryIO, limits: ReadLimits, layout: Layout, looks_like_record: LooksLikeRecord, start: Position
) -> Iterator[RawRecord]:
    if layout == "lines":
        _move_to(stream, start.offset)
        return _settle_tail(_line_records(stream, limits, looks_like_record, start))
    if layout == "document":
        return _document_record(stream, limits, looks_like_record)
    scanner = ElementScanner(max_bytes=limits.max_line_bytes, enter="array" if layout == "array" else None)
    return element_records(read_elements(stream, scanner), limits)


def _move_to(stream: BinaryIO, offset: int) -> None:
    if offset and stream.seekable():
        stream.seek(offset)
        return
    while offset > 0 and (skipped := stream.read(min(offset, CHUNK_BYTES))):
        offset -= len(skipped)


def _line_records(stream: BinaryIO, limits: ReadLimits, looks_like_record: LooksLikeRecord, start: Position) -> Iterator[RawRecord]:
    number = start.number
    for line in read_lines(stream, max_line_bytes=limits.max_line_bytes, start=start):
        reading = OVERSIZE if line.content is None else read_json(line.content, max_depth=limits.max_depth)
        if line.content is None or reading.verdict not in _MAY_HOLD_RECORDS:
            yield _line_record(number, line, 0, line.length, reading)
            number += 1
            continue
        for piece, end in _pieces(line, line.content, reading, limits, looks_like_record):
            yield _line_record(number, line, piece.start, end, piece.reading)
            number += 1


def _pieces(
    line: Line, content: bytes, reading: JsonReading, limits: ReadLimits, looks_like_record: LooksLikeRecord
) -> Iterator[tuple[Piece, int]]:
    """The records of a line that is not one JSON value, each with where it ends: where the next one begins."""
    pieces = torn_pieces(content, max_depth=limits.max_depth, looks_like_record=looks_like_record)
    piece = next(pieces, None) or Piece(0, reading if reading.verdict == "too_deep" else broken(content))
    for following in pieces:
        yield piece, following.start
        piece = following
    yield piece, line.length


def _line_record(number: int, line: Line, start: int, end: int, reading: JsonReading) -> RawRecord:
    verdict, value, flags = reading
    return RawRecord(
        number=number,
        line=line.number,
        offset=line.offset + start,
        length=end - start,
        verdict=verdict,
        value=value,
        flags=flags,
    )


def _settle_tail(records: Iterator[RawRecord]) -> Iterator[RawRecord]:
    """The same records; an unfinished one that only blank lines follow becomes the truncated tail."""
    held: list[RawRecord] = []
    for record in records:
        if held:
            held.append(record)
            if not _is_blank(record) or len(held) > _HELD_BLANKS:
                *settled, record = held
                held.clear()
                yield from settled
        if not held:
            if "unfinished" in record.flags:
                held.append(record)
            else:
                yield record
    if held:
        yield replace(held[0], verdict="truncated_tail")
        yield from held[1:]


def _is_blank(record: RawRecord) -> bool:
    return record.verdict == "blank" or "empty" in record.flags


def _document_record(stream: BinaryIO, limits: ReadLimits, looks_like_record: LooksLikeRecord) -> Iterator[RawRecord]:
    raw = read_document(stream, limits=limits)
    text = raw.strip()
    if b"\n" not in text:
        return _settle_tail(_line_records(io.BytesIO(raw), limits, looks_like_record, Position()))
    element = Element(raw.find(text[:1]), len(text), text, True, False)
    return element_records(iter([element]), limits)
