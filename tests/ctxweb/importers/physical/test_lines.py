"""Physical lines: what ends one, what one may hold, and that no byte is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxweb.importers.physical import ReadLimits, TooManyRecords
from tests.ctxweb.importers.physical.sources import compact, covered, read, session_lines, verdicts

pytestmark = pytest.mark.nodb

JSON_LIKE = st.lists(
    st.sampled_from(
        [
            b"{",
            b"}",
            b"[",
            b"]",
            b'"',
            b"\\",
            b",",
            b":",
            b"\n",
            b"\r",
            b"\0",
            b" ",
            b"1",
            b'"a"',
            b"{}",
            b"\xff",
            b"\xef\xbb\xbf",
            b"\xed\xa0\x80",
            b"null",
        ]
    )
).map(b"".join)


def test_each_line_is_one_record_with_its_place() -> None:
    data = b'{"a":1}\n[2]\n3'
    first, second, third = read(data)
    assert (first.number, first.line, first.offset, first.length, first.value) == (1, 1, 0, 8, {"a": 1})
    assert (second.number, second.line, second.offset, second.length, second.value) == (2, 2, 8, 4, [2])
    assert (third.number, third.line, third.offset, third.length, third.value) == (3, 3, 12, 1, 3)
    assert verdicts([first, second, third]) == [None, None, None]


def test_nothing_follows_the_last_line_end() -> None:
    assert len(read(b"1\n2\n")) == 2
    assert read(b"") == []


def test_a_carriage_return_belongs_to_the_line_end() -> None:
    records = read(b'{"a":1}\r\n{"a":2}\n\r\n')
    assert verdicts(records) == [None, None, "blank"]
    assert [record.length for record in records] == [9, 8, 2]


def test_only_the_line_feed_ends_a_line() -> None:
    separators = "\u2028\u2029\x85\v\f\x1c\r"
    data = compact({"text": separators.replace("\v", "").replace("\f", "").replace("\x1c", "").replace("\r", "")}) + b"\n"
    (record,) = read(data)
    assert record.value == {"text": "\u2028\u2029\x85"}


@pytest.mark.parametrize("blank", [b"\n", b" \t \n", b"\r\n", b"\v\f\n", b"\xef\xbb\xbf\n", b"\xef\xbb\xbf"])
def test_a_line_of_white_space_or_of_a_byte_order_mark_is_blank(blank: bytes) -> None:
    assert verdicts(read(blank)) == ["blank"]


def test_a_byte_order_mark_belongs_to_the_first_record() -> None:
    data = b'\xef\xbb\xbf{"a":1}\n'
    (record,) = read(data)
    assert (record.verdict, record.value, record.offset) == (None, {"a": 1}, 0)
    assert covered([record], data) == data


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize(("length", "verdict"), [(63, None), (64, None), (65, "oversize")])
def test_a_line_above_the_limit_is_kept_by_its_place_and_not_parsed(length: int, verdict: str | None, end: bytes) -> None:
    text = b'"' + b"x" * (length - 2) + b'"'
    data = b"1\n" + text + end + (b"2" if end else b"")
    for reads_of in (1, 7, 4096):
        records = read(data, limits=ReadLimits(max_line_bytes=64), reads_of=reads_of)
        assert records[1].verdict == verdict
        assert (records[1].offset, records[1].length) == (2, len(text + end))
        assert (records[1].value is None) == (verdict is not None)
        assert covered(records, data) == data
        assert len(records) == (3 if end else 2)


def test_more_records_than_the_limit_stop_the_reading_and_say_so() -> None:
    assert len(read(b"1\n" * 3, limits=ReadLimits(max_records=3))) == 3
    with pytest.raises(TooManyRecords, match="more than 3 records"):
        read(b"1\n" * 4, limits=ReadLimits(max_records=3))


@pytest.mark.parametrize("reads_of", [1, 7, 4096])
def test_the_size_of_the_reads_changes_nothing(reads_of: int) -> None:
    lines = list(session_lines(40))
    data = b"\xef\xbb\xbf" + b"\r\n".join(lines[:20]) + b"\n\n" + lines[20] + lines[21] + b"\n" + lines[22][:50]
    assert read(data, reads_of=reads_of) == read(data)


@given(data=JSON_LIKE | st.binary(), reads_of=st.sampled_from([1, 3, 4096]))
def test_any_bytes_give_records_that_are_the_whole_stream(data: bytes, reads_of: int) -> None:
    records = read(data, reads_of=reads_of)
    assert b"".join(data[record.offset : record.offset + record.length] for record in records) == data
    assert [record.number for record in records] == list(range(1, len(records) + 1))
    assert {record.line for record in records} == set(range(1, 1 + len(data.split(b"\n")) - (data.endswith(b"\n") or not data)))


@given(data=JSON_LIKE | st.binary())
def test_any_bytes_in_any_layout_give_spans_that_are_the_whole_stream(data: bytes) -> None:
    for layout in ("array", "values", "document"):
        assert covered(read(data, layout=layout), data) == data
