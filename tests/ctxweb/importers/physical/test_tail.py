"""A source that ends inside a record, and what only looks like it."""

import pytest

from tests.ctxweb.importers.physical.sources import compact, covered, read, verdicts

pytestmark = pytest.mark.nodb

RECORD = compact({"type": "user", "uuid": "u1", "message": {"content": 'a "quoted" { 中文'}})


@pytest.mark.parametrize("cut", range(1, len(RECORD)))
@pytest.mark.parametrize("rest", [b"", b"\n", b"\r\n \n\n"])
def test_a_last_record_that_is_cut_anywhere_is_a_truncated_tail(cut: int, rest: bytes) -> None:
    data = RECORD + b"\n" + RECORD[:cut] + rest
    records = read(data)
    assert verdicts(records)[:2] == [None, "truncated_tail"]
    assert set(verdicts(records)[2:]) <= {"blank"}
    assert records[1].flags == ("unfinished",)
    assert covered(records, data) == data


def test_a_cut_record_that_others_follow_is_a_broken_one() -> None:
    assert verdicts(read(RECORD[:20] + b"\n\n" + RECORD)) == ["invalid_json", "blank", None]


def test_of_two_cut_records_only_the_last_is_the_tail() -> None:
    assert verdicts(read(RECORD[:20] + b"\n\n" + RECORD[:30] + b"\n\n")) == ["invalid_json", "blank", "truncated_tail", "blank"]


def test_a_whole_last_record_without_a_line_end_is_no_tail() -> None:
    assert verdicts(read(RECORD + b"\n" + RECORD)) == [None, None]


@pytest.mark.parametrize("last", [b"{'a': 1}", b'{"a":1}}', b'["a', b"garbage", b'"a'])
def test_a_last_line_that_ends_or_begins_no_object_is_broken_and_no_tail(last: bytes) -> None:
    assert verdicts(read(RECORD + b"\n" + last)) == [None, "invalid_json"]


def test_nul_bytes_behind_a_cut_record_do_not_hide_the_tail() -> None:
    assert verdicts(read(RECORD[:20] + b"\0\0\0")) == ["truncated_tail"]
    assert verdicts(read(b"\0\0\0" + RECORD[:20])) == ["truncated_tail"]
    assert verdicts(read(RECORD[:20] + b"\n\0\0\0")) == ["truncated_tail", "nul_padding"]


def test_nul_bytes_behind_the_last_line_end_are_padding_and_no_tail() -> None:
    assert verdicts(read(RECORD + b"\n\0\0\0")) == [None, "nul_padding"]


def test_a_tail_behind_a_whole_record_on_its_line_is_cut_too() -> None:
    assert verdicts(read(RECORD + RECORD[:25])) == [None, "truncated_tail"]


def test_blank_lines_without_end_are_not_all_held_back() -> None:
    records = read(RECORD[:20] + b"\n" * 30_000)
    assert verdicts(records)[:2] == ["invalid_json", "blank"]
    assert len(records) == 30_000


@pytest.mark.parametrize("layout", ["array", "values"])
def test_a_cut_element_is_a_truncated_tail(layout: str) -> None:
    data = (b"[" if layout == "array" else b"") + RECORD + (b",\n" if layout == "array" else b"\n") + RECORD[:30]
    assert verdicts(read(data, layout=layout)) == [None, "truncated_tail"]  # type: ignore[arg-type]
