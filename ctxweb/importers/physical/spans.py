"""Proof that records and what lies between them are the whole stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ctxweb.importers.physical.records import RawRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Bytes of the stream; `number` is the record that they are, None for what lies between records."""

    offset: int
    length: int
    number: int | None


def record_spans(records: Iterable[RawRecord], *, total: int) -> Iterator[Span]:
    """Spans that cover the `total` bytes of the stream once, in order. Raises ValueError where records overlap."""
    end = 0
    for record in records:
        if record.offset > end:
            yield Span(offset=end, length=record.offset - end, number=None)
        elif record.offset < end:
            raise ValueError(f"record {record.number} begins at byte {record.offset}, inside the record before it, which ends at {end}")
        yield Span(offset=record.offset, length=record.length, number=record.number)
        end = record.offset + record.length
    if end > total:
        raise ValueError(f"the records end at byte {end}, the stream at {total}")
    if end < total:
        yield Span(offset=end, length=total - end, number=None)
