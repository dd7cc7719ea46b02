"""How JSON values are laid out in a source."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxweb.importers.physical import Layout, Position, ReadLimits, detect_layout
from tests.ctxweb.importers.physical.sources import LIMITS, SmallReads, compact, covered, opener, read, session_lines, verdicts

pytestmark = pytest.mark.nodb

RECORDS = [json.loads(line) for line in session_lines(6)]
LINES = b"".join(compact(record) + b"\n" for record in RECORDS)
PRETTY = "\n".join(json.dumps(record, indent=2, ensure_ascii=False) for record in RECORDS).encode()
ARRAY = json.dumps(RECORDS, indent=1).encode()
ONE_LINE_ARRAY = compact(RECORDS)
DOCUMENT = json.dumps({"messages": RECORDS}, indent=2).encode()
BOM = b"\xef\xbb\xbf"


def layout_of(data: bytes, limits: ReadLimits = LIMITS) -> Layout:
    return detect_layout(opener(data), limits=limits)


@pytest.mark.parametrize(
    ("data", "layout"),
    [
        (LINES, "lines"),
        (LINES.rstrip(), "lines"),
        (b"\n \n" + LINES, "lines"),
        (BOM + LINES, "lines"),
        (LINES.replace(b"\n", b"\r\n"), "lines"),
        (b"[1]\n[2]\n", "lines"),
        (b"[]\n" + LINES, "lines"),
        (b"1\n", "lines"),
        (b"", "lines"),
        (b"\n\n", "lines"),
        (b"\0\0\0" + LINES, "lines"),
        (LINES.replace(b"\n", b"", 1), "lines"),
        (compact(RECORDS[0]) * 2, "lines"),
        (ONE_LINE_ARRAY, "array"),
        (ONE_LINE_ARRAY + b"\n\n", "array"),
        (BOM + ONE_LINE_ARRAY, "array"),
        (ARRAY, "array"),
        (b"\n" + BOM.replace(BOM, b"") + ARRAY + b"\n", "array"),
        (BOM + ARRAY, "array"),
        (b"[\n" + b",\n".join(LINES.splitlines()) + b"\n]\n", "array"),
        (b"[\n]", "array"),
        (PRETTY, "values"),
        (BOM + PRETTY.replace(b"\n", b"\r\n"), "values"),
        (PRETTY.replace(b"\n}\n{", b"\n}{"), "values"),
        (b"[\n1]\n[2\n]", "values"),
        (DOCUMENT, "document"),
        (compact({"messages": RECORDS}), "document"),
        (compact({"messages": RECORDS}) + b"\n", "document"),
    ],
)
def test_the_layout_is_told_from_the_values(data: bytes, layout: str) -> None:
    assert layout_of(data) == layout
    assert detect_layout(lambda: SmallReads(data, 1), limits=LIMITS) == layout


@pytest.mark.parametrize(
    "first",
    [
        b'{"type":"user","sess',
        b'{"type":"user",',
        b'{"a":{"b":1}',
        b"{",
        b"[",
        b'[{"a":1},',
        b'[{"a":1},{"b":[',
        b'["a',
        b"# Notes",
        b"}{",
        b"{'a':1}",
        b"nul",
    ],
)
def test_a_broken_first_line_does_not_make_a_file_of_lines_anything_else(first: bytes) -> None:
    data = first + b"\n" + LINES
    assert layout_of(data) == "lines"
    assert verdicts(read(data)) == ["invalid_json", *[None] * 6]


@pytest.mark.parametrize("data", [ARRAY, PRETTY])
def test_a_source_that_is_cut_keeps_its_layout_and_loses_its_last_value_only(data: bytes) -> None:
    cut = data[: len(data) - 30]
    layout = layout_of(cut)
    assert layout == layout_of(data)
    records = read(cut, layout=layout)
    assert [record.value for record in records[:-1]] == RECORDS[:-1]
    assert records[-1].verdict == "truncated_tail"
    assert covered(records, cut) == cut


def test_a_torn_first_line_behind_a_whole_value_does_not_make_a_sequence() -> None:
    assert layout_of(b'{"a":1}{"b":[' + b"\n" + LINES) == "lines"


@pytest.mark.parametrize("cut", [1, 20, 40, 60])
def test_an_array_on_one_line_that_is_cut_anywhere_stays_one(cut: int) -> None:
    assert layout_of(ONE_LINE_ARRAY[:-cut]) == "array"


def test_an_array_that_is_cut_between_its_elements_is_not_taken_for_one() -> None:
    """Without an end it could as well be a broken first line before lines of records."""
    assert layout_of(b"[\n" + LINES) == "lines"


@pytest.mark.parametrize("inner", [b'"\xff"', b"NaN", b"1" * 30, b'"\\ud800"', b"[" * 300 + b"]" * 300])
def test_values_that_only_this_reader_accepts_are_values(inner: bytes) -> None:
    assert layout_of(b'[\n{"a":' + inner + b"}\n]") == "array"


def test_a_first_line_above_the_limit_is_judged_by_its_brackets() -> None:
    limits = ReadLimits(max_line_bytes=100)
    long = compact({"text": "x" * 200})
    assert layout_of(long + b"\n" + LINES, limits) == "lines"
    assert layout_of(long, limits) == "document"
    assert layout_of(b"[" + long + b",1]", limits) == "array"
    assert layout_of(b"[" + long + b",1]\n[2]", limits) == "lines"


def test_the_elements_of_an_array_are_records_with_their_own_spans() -> None:
    records = read(ARRAY, layout="array")
    assert [record.value for record in records] == RECORDS
    assert [record.line for record in records] == [1, 2, 3, 4, 5, 6]
    assert [json.loads(ARRAY[record.offset : record.offset + record.length]) for record in records] == RECORDS
    assert covered(records, ARRAY) == ARRAY


def test_a_broken_element_costs_itself_only() -> None:
    data = b'[{"a":1},\n{"b":oops},\n{"c":},3,"x",' + b"[" * 201 + b"]" * 201 + b"]"
    assert verdicts(read(data, layout="array")) == [None, "invalid_json", "invalid_json", None, None, "too_deep"]


def test_an_element_above_the_limit_is_kept_by_its_place() -> None:
    limits = ReadLimits(max_line_bytes=50)
    data = b'[1,{"a":"' + b"x" * 100 + b'"},2]'
    for reads_of in (1, 7, 4096):
        records = read(data, layout="array", limits=limits, reads_of=reads_of)
        assert verdicts(records) == [None, "oversize", None]
        assert covered(records, data) == data


def test_a_document_on_one_line_is_read_as_lines_are() -> None:
    data = compact(RECORDS[0]) + b"\n\n"
    assert layout_of(data) == "document"
    assert read(data, layout="document") == read(data)


def test_a_document_over_many_lines_is_one_record() -> None:
    (record,) = read(b"\n" + DOCUMENT + b"\n", layout="document")
    assert (record.value, record.offset, record.length) == ({"messages": RECORDS}, 1, len(DOCUMENT))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text('a{["}]\\,: é\n\t'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('a{["}]\\'), inner, max_size=3),
    max_leaves=10,
)


@given(
    values=st.lists(JSON, min_size=1, max_size=5),
    indent=st.sampled_from([None, 0, 2]),
    reads_of=st.sampled_from([1, 3, 4096]),
    ascii_only=st.booleans(),
)
def test_arrays_and_sequences_give_their_values_however_they_are_written(
    values: list[Any], indent: int | None, reads_of: int, ascii_only: bool
) -> None:
    array = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode()
    assert [record.value for record in read(array, layout="array", reads_of=reads_of)] == values
    sequence = " ".join(json.dumps(value, indent=indent, ensure_ascii=ascii_only) for value in values).encode()
    assert [record.value for record in read(sequence, layout="values", reads_of=reads_of)] == values


def test_another_layout_than_lines_is_not_read_from_its_middle() -> None:
    with pytest.raises(ValueError, match="from its beginning only"):
        read(ARRAY, layout="array", start=Position())


def test_detection_closes_what_it_opened() -> None:
    opened: list[io.BytesIO] = []

    def open_source() -> io.BytesIO:
        opened.append(io.BytesIO(PRETTY))
        return opened[-1]

    detect_layout(open_source, limits=LIMITS)
    assert all(stream.closed for stream in opened)
