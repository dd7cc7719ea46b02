"""Reading can start again at any line."""

import pytest

from ctxweb.importers.physical import Position
from tests.ctxweb.importers.physical.sources import compact, read, session_lines

pytestmark = pytest.mark.nodb

LINES = list(session_lines(30))
DATA = (
    b"\xef\xbb\xbf"
    + b"\n".join([*LINES[:10], b"", LINES[10] + LINES[11] + LINES[12], LINES[13][:40] + LINES[14], b"\0\0", *LINES[15:], LINES[0][:50]])
    + b"\n\n"
)


@pytest.mark.parametrize("reads_of", [None, 7])
def test_the_rest_of_the_records_is_the_same_from_every_line_on(reads_of: int | None) -> None:
    records = read(DATA)
    assert {record.verdict for record in records} == {None, "blank", "recovered_splice", "invalid_json", "nul_padding", "truncated_tail"}
    for at, record in enumerate(records):
        if at and records[at - 1].line == record.line:
            continue  # a position is the beginning of a line
        assert read(DATA, start=Position.of(record), reads_of=reads_of) == records[at:]


def test_a_grown_source_goes_on_from_its_last_line() -> None:
    before = read(DATA)
    last = [record for record in before if record.verdict != "blank"][-1]
    grown = DATA.rstrip(b"\n") + LINES[0][50:] + b"\n" + compact({"more": 1}) + b"\n"
    kept = before[: last.number - 1]
    assert kept + read(grown, start=Position.of(last)) == read(grown)


def test_a_position_behind_the_end_gives_nothing() -> None:
    assert read(b"1\n", start=Position(offset=2, line=2, number=2)) == []
    assert read(b"1\n", start=Position(offset=9, line=2, number=2), reads_of=1) == []
