"""The beginning of a source, decoded: what a format is recognised by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ctxweb.importers.physical.errors import EmptySource
from ctxweb.importers.physical.layout import Opener, detect_layout
from ctxweb.importers.physical.reading import read_records
from ctxweb.importers.physical.records import Layout, RawRecord, ReadLimits

HEAD_VALUES = 200  # dozens of side records can come before the first message
HEAD_BYTES = 256 * 1024
PREVIEW_BYTES = 32

_PRINTABLE = range(0x20, 0x7F)
_VALUE_VERDICTS = frozenset({None, "invalid_utf8", "nul_padding", "recovered_splice"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """`values`: the first JSON values, at most 200, of the first 256 KiB; one at least where the source has one. In the
    layout `document` it is the one object, whole.

    `preview`: the first 32 bytes in ASCII, others as `\\xNN`, for the message of a source that no format recognises.
    """

    layout: Layout
    values: tuple[Any, ...]
    preview: str


def read_head(open_source: Opener, *, limits: ReadLimits) -> Head:
    """The head of a source. Raises `EmptySource` where it holds no record, `TooLarge` for a document above the limit."""
    layout = detect_layout(open_source, limits=limits)
    values: list[Any] = []
    is_empty = True
    with open_source() as stream:
        records = read_records(stream, limits=limits, layout=layout, looks_like_record=lambda _: False)
        for record in records:
            is_empty = is_empty and (record.verdict == "blank" or "empty" in record.flags)
            if _has_value(record):
                values.append(record.value)
            end = record.offset + record.length
            if len(values) >= HEAD_VALUES or end >= (HEAD_BYTES if values else HEAD_BYTES + limits.max_line_bytes):
                is_empty = False
                break
    if is_empty:
        raise EmptySource("The source holds no record, only blanks. Choose the session file itself, or import it again once it is written.")
    return Head(layout=layout, values=tuple(values), preview=_preview(open_source))


def _has_value(record: RawRecord) -> bool:
    return record.verdict in _VALUE_VERDICTS and "empty" not in record.flags


def _preview(open_source: Opener) -> str:
    with open_source() as stream:
        first = stream.read(PREVIEW_BYTES)
    return "".join(chr(byte) if byte in _PRINTABLE else f"\\x{byte:02x}" for byte in first)
