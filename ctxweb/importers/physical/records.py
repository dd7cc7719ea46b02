"""What the physical reader yields, and the limits and positions it works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Layout = Literal["lines", "array", "values", "document"]
"""How the JSON values of a source are laid out: one a line; the elements of one array; values one
after another over many lines; one object, whose main array the format names."""

LooksLikeRecord = Callable[[Any], bool]
"""Whether a value that was found behind a torn record is a record of the format, and not an inner block."""

MIB = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """What is read at most (docs/operations.md, Settings). A source above a limit raises a `PhysicalError` that names it.

    A record above `max_line_bytes` or `max_depth` costs only itself: it is kept by its offset and not parsed.
    """

    max_line_bytes: int = 16 * MIB
    max_depth: int = 200
    max_expanded_bytes: int = 2 * 1024 * MIB
    max_records: int = 5_000_000
    max_document_bytes: int = 32 * MIB
    """One JSON object is parsed as a whole, so it is held in memory."""
    max_members: int = 1_000
    """Files in one zip archive."""
    max_ratio: int = 250
    """Unpacked bytes for each packed byte, looked at once `ratio_free_bytes` are unpacked."""
    ratio_free_bytes: int = 64 * MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRecord:
    """One record of a source, in file order.

    `number` counts the records from 1 without holes. `line` is the physical line from 1; where records span lines or sit
    in an array it is the number of the element. `offset` and `length` are bytes of the unpacked stream in UTF-8. In the
    layout `lines` the spans follow each other without a gap: a line end, a byte order mark and blanks between glued values
    belong to the record before them (the mark to the first). In the other layouts a span is the value alone.

    `verdict` is the physical verdict (docs/importing.md) where there is one: blank, invalid_json, nul_padding,
    oversize, too_deep, truncated_tail, invalid_utf8, recovered_splice. None: a JSON value, for the format to judge.
    `value` is the decoded value, None where there is none; it holds no lone surrogate and no raw NUL, but `\\u0000` stays.

    `flags`: lossy_text (U+FFFD stands for what was no text), nul_removed, empty (nothing but NULs and blanks), big_integer
    (a `BigNumber` is in the value), non_finite (a `NonFinite`), unfinished (the record ends before its value does), cut_frame (it
    stands for what was appended last and cannot be unpacked).
    """

    number: int
    line: int
    offset: int
    length: int
    verdict: str | None
    value: Any
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where reading can start again: the beginning of a physical line, and the line and record numbers due there."""

    offset: int = 0
    line: int = 1
    number: int = 1

    @classmethod
    def of(cls, record: RawRecord) -> Position:
        """The start of `record`. Only for layout `lines`, and for the first record of its line."""
        return cls(offset=record.offset, line=record.line, number=record.number)
