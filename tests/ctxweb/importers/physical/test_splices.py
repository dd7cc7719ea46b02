"""Several records on one line: glued ones, a torn one with the next behind it, and what must not be taken for one."""

import pytest

from tests.ctxweb.importers.physical.sources import compact, covered, read, verdicts

pytestmark = pytest.mark.nodb

RECORD = compact({"type": "user", "uuid": "u1", "message": {"content": 'say "{" and \\ and }', "n": [1, {}]}})
OTHER = compact({"type": "assistant", "sessionId": "s", "text": "文本"})


@pytest.mark.parametrize("between", [b"", b"  ", b"\t", b"\0\0"])
def test_glued_records_are_all_read_with_their_offsets(between: bytes) -> None:
    data = b"1\n" + RECORD + between + OTHER + between + RECORD + b"\r\n2\n"
    records = read(data)
    assert verdicts(records) == [None, None, "recovered_splice", "recovered_splice", None]
    assert [record.line for record in records] == [1, 2, 2, 2, 3]
    assert data[records[2].offset :].startswith(OTHER)
    assert data[records[3].offset :].startswith(RECORD)
    assert covered(records, data) == data


@pytest.mark.parametrize("cut", [1, 2, 11, 60, len(RECORD) - 1])
def test_the_record_behind_a_torn_one_is_recovered(cut: int) -> None:
    data = RECORD[:cut] + OTHER + b"\n"
    records = read(data)
    assert verdicts(records) == ["invalid_json", "recovered_splice"]
    assert (records[1].offset, records[1].value["sessionId"]) == (cut, "s")
    assert covered(records, data) == data


def test_a_fragment_that_ends_in_a_backslash_does_not_hide_the_next_record() -> None:
    records = read(b'{"type":"user","text":"a\\' + OTHER)
    assert verdicts(records) == ["invalid_json", "recovered_splice"]


def test_several_records_behind_a_torn_one_are_recovered() -> None:
    records = read(RECORD[:30] + OTHER + b" " + RECORD + b" \n")
    assert verdicts(records) == ["invalid_json", "recovered_splice", "recovered_splice"]


def test_a_whole_record_before_a_torn_one_is_kept() -> None:
    records = read(RECORD + RECORD[:30] + OTHER + b"\n1")
    assert verdicts(records) == [None, "invalid_json", "recovered_splice", None]


def test_a_torn_record_behind_a_whole_one_is_one_broken_record() -> None:
    assert verdicts(read(RECORD + OTHER[:20] + b"\n1")) == [None, "invalid_json", None]


def test_an_inner_object_at_the_end_of_a_torn_record_is_not_taken_for_a_record() -> None:
    data = b'{"type":"user","uuid":"u","sessio,"message":{"content":[{"type":"text","text":"inner"}'
    assert verdicts(read(data + b"\n1")) == ["invalid_json", None]


@pytest.mark.parametrize("junk", [b"trailing", b"}", b"]", b",", b'"', b"[1]"])
def test_a_value_with_something_else_behind_it_is_one_broken_record(junk: bytes) -> None:
    assert verdicts(read(RECORD + junk + b"\n")) == ["invalid_json"]


def test_whole_records_before_junk_are_kept() -> None:
    assert verdicts(read(RECORD + OTHER + b"junk\n1")) == [None, "recovered_splice", "invalid_json", None]
    assert verdicts(read(RECORD + b" junk }{\n1")) == ["invalid_json", None]


def test_a_whole_record_with_a_strange_blank_behind_it_is_no_recovered_one() -> None:
    assert verdicts(read(RECORD + b"\v\n")) == ["invalid_json"]


def test_a_record_glued_to_one_that_is_too_deep_is_recovered() -> None:
    deep = b'{"a":' * 300 + b"1" + b"}" * 300
    assert verdicts(read(deep + OTHER)) == ["too_deep", "recovered_splice"]
    assert verdicts(read(b'{"cut":"' + b"{" * 300 + OTHER)) == ["invalid_json", "recovered_splice"]


def test_odd_bytes_in_a_recovered_record_are_flagged() -> None:
    records = read(RECORD + b'{"type":"user","uuid":"\xff"}')
    assert (records[1].verdict, records[1].flags) == ("recovered_splice", ("lossy_text",))


def test_the_search_is_linear_in_a_hostile_line() -> None:
    """Each `{` could begin the record at the end; trying them all would take hours here."""
    for hostile in (b"{" * 2_000_000, b'{"' * 1_000_000 + b"}", b"{}" * 20_000 + b"{", b'"}' * 1_000_000):
        records = read(hostile + b"\n")
        assert covered(records, hostile + b"\n") == hostile + b"\n"
