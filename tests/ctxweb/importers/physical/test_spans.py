"""The proof that nothing is lost must itself be able to fail."""

import dataclasses

import pytest

from ctxweb.importers.physical import Span, record_spans
from tests.ctxweb.importers.physical.sources import read

pytestmark = pytest.mark.nodb

DATA = b"[1, 22]\n"
RECORDS = read(DATA, layout="array")


def test_records_and_what_lies_between_them_are_told_apart() -> None:
    spans = list(record_spans(RECORDS, total=len(DATA)))
    assert [(span.offset, span.length, span.number) for span in spans] == [(0, 1, None), (1, 1, 1), (2, 2, None), (4, 2, 2), (6, 2, None)]
    assert list(record_spans([], total=3)) == [Span(offset=0, length=3, number=None)]


def test_records_that_overlap_or_end_behind_the_stream_are_refused() -> None:
    overlapping = [RECORDS[0], dataclasses.replace(RECORDS[1], offset=1)]
    with pytest.raises(ValueError, match="inside the record before it"):
        list(record_spans(overlapping, total=len(DATA)))
    with pytest.raises(ValueError, match="the stream at 5"):
        list(record_spans(RECORDS, total=5))
