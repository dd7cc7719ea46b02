"""The head of a source: what formats are recognised by."""

import json

import pytest

from ctxweb.importers.physical import EmptySource, Head, read_head
from tests.ctxweb.importers.physical.sources import LIMITS, compact, opener, session_lines

pytestmark = pytest.mark.nodb


def head_of(data: bytes) -> Head:
    return read_head(opener(data), limits=LIMITS)


def test_it_holds_the_first_values_and_the_first_bytes() -> None:
    head = head_of(b'{"a":1}\n\nbroken\n{"b":2}\n')
    assert head == Head(layout="lines", values=({"a": 1}, {"b": 2}), preview=r'{"a":1}\x0a\x0abroken\x0a{"b":2}\x0a')


def test_it_sees_far_enough_for_a_message_behind_many_side_records() -> None:
    values = head_of(b'{"type":"side"}\n' * 150 + b'{"type":"user"}\n' * 1000).values
    assert len(values) == 200
    assert values[150] == {"type": "user"}


def test_it_stops_after_256_kib() -> None:
    line = compact({"text": "x" * 10_000}) + b"\n"
    assert len(head_of(line * 1000).values) == 27


def test_it_holds_one_value_however_long_that_is() -> None:
    long = {"text": "x" * 2_000_000}
    assert head_of(b"broken\n" + compact(long) + b"\n1\n").values == (long,)


def test_it_looks_behind_a_long_broken_line_for_the_first_value() -> None:
    assert head_of(b"broken" * 100_000 + b"\n1\n2\n").values == (1,)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_is_its_one_value(indent: int | None) -> None:
    document = {"messages": [json.loads(line) for line in session_lines(2000)]}
    head = head_of(json.dumps(document, indent=indent).encode())
    assert (head.layout, head.values) == ("document", (document,))


@pytest.mark.parametrize("data", [b"", b"\n \n\t\n", b"\xef\xbb\xbf", b"\0\0\n\0", b"[]", b"[\n]"])
def test_a_source_without_a_record_is_empty(data: bytes) -> None:
    with pytest.raises(EmptySource, match="only blanks"):
        head_of(data)


def test_a_source_without_a_value_is_not_empty() -> None:
    assert head_of(b"# Notes\n\nNot a transcript.\n").values == ()


def test_binary_bytes_are_previewed_as_escapes() -> None:
    assert head_of(b"SQLite format 3\0\x10\xff\\").preview == r"SQLite format 3\x00\x10\xff" + "\\"


def test_the_value_null_is_a_value() -> None:
    assert head_of(b"null\n1\n").values == (None, 1)
