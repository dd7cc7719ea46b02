"""The main array of one JSON object."""

import io
import json

import pytest

from ctxweb.importers.physical import RawRecord, ReadLimits, TooLarge, document_records, read_head
from tests.ctxweb.importers.physical.sources import LIMITS, covered, opener, read, session_lines, verdicts

pytestmark = pytest.mark.nodb

RECORDS = [json.loads(line) for line in session_lines(5)]


def records_of(data: bytes, *path: str, limits: ReadLimits = LIMITS) -> list[RawRecord]:
    return list(document_records(io.BytesIO(data), path, limits=limits))


@pytest.mark.parametrize("indent", [None, 0, 4])
@pytest.mark.parametrize("path", [("messages",), ("info", "deep", "messages")])
@pytest.mark.parametrize("before", ["", "\ufeff", "\n\n"])
def test_its_elements_are_the_records_with_their_own_spans(indent: int | None, path: tuple[str, ...], before: str) -> None:
    document: object = RECORDS
    for key in reversed(path):
        document = {"a": '"{[', key: document, "z": [{"messages": [1]}]}
    data = (before + json.dumps(document, indent=indent, ensure_ascii=False)).encode()
    records = records_of(data, *path)
    assert [record.value for record in records] == RECORDS
    assert [record.line for record in records] == [1, 2, 3, 4, 5]
    assert [json.loads(data[record.offset : record.offset + record.length]) for record in records] == RECORDS
    assert covered(records, data) == data


def test_of_equal_keys_the_last_one_counts() -> None:
    assert [record.value for record in records_of(b'{"m":[1],"m":[2,3]}', "m")] == [2, 3]


def test_a_key_is_compared_by_its_meaning() -> None:
    assert [record.value for record in records_of(rb'{"m\u0065ssages":[7]}', "messages")] == [7]


@pytest.mark.parametrize("path", [(), ("missing",), ("text",), ("object",), ("array", "missing")])
def test_a_path_that_leads_to_no_array_gives_the_document_as_one_record(path: tuple[str, ...]) -> None:
    data = b' {"text":"x","object":{"a":1},"array":[1]}\n'
    (record,) = records_of(data, *path)
    assert (record.value, record.offset) == (json.loads(data), 1)


def test_a_broken_or_large_element_costs_itself_only() -> None:
    data = b'{"messages":[1,{"a":oops},"' + b"x" * 100 + b'",2]}'
    assert verdicts(records_of(data, "messages", limits=ReadLimits(max_line_bytes=50))) == [None, "invalid_json", "oversize", None]


@pytest.mark.parametrize(("size", "fits"), [(99, True), (100, True), (101, False)])
def test_a_document_above_its_limit_is_refused_with_the_way_out(size: int, fits: bool) -> None:
    data = b'{"messages":[1],\n"t":"' + b"x" * (size - 24) + b'"}'
    assert len(data) == size
    limits = ReadLimits(max_document_bytes=100)
    if fits:
        assert len(records_of(data, "messages", limits=limits)) == 1
        assert read_head(opener(data), limits=limits).layout == "document"
        return
    with pytest.raises(TooLarge, match="more than 100 bytes"):
        records_of(data, "messages", limits=limits)
    with pytest.raises(TooLarge, match="more than 100 bytes"):
        read(data, layout="document", limits=limits)


def test_an_empty_stream_holds_no_record() -> None:
    assert records_of(b"", "messages") == []
    assert read(b"", layout="document") == []
