"""Mutated lines never raise, lose no byte, get one verdict each and harm no other line."""

import random
from collections import Counter

import pytest

from ctxweb.importers.physical import PhysicalError, read_head
from tests.ctxweb.importers.physical.sources import LIMITS, covered, opener, read, session_lines

pytestmark = pytest.mark.nodb

LINES_A_FILE = 250
FILES = 200
VERDICTS = {None, "blank", "invalid_json", "nul_padding", "oversize", "too_deep", "truncated_tail", "invalid_utf8", "recovered_splice"}
SPICE = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b"\\",
    b",",
    b":",
    b"\0\0",
    b"\r",
    b"\xff",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"1e999",
    b"9" * 30,
    b"NaN",
    b"}{",
    b"\xef\xbb\xbf",
]


def mutated(line: bytes, chance: random.Random) -> bytes:
    """`line` after one to three changes, without a line end in it."""
    for _ in range(chance.randint(1, 3)):
        at, to = sorted(chance.randrange(len(line) + 1) for _ in range(2))
        change = chance.randrange(6)
        if change == 0:
            line = line[:at] + chance.choice(SPICE) + line[at:]
        elif change == 1:
            line = line[:at] + line[to:]
        elif change == 2:
            line = line[:to]
        elif change == 3:
            line = line[:at] + chance.randbytes(3) + line[at + 3 :]
        elif change == 4:
            line = line[:to] + line[at:]
        else:
            line = line[:to] + line
    return line.replace(b"\n", b" ")


@pytest.mark.parametrize("seed", range(4))
def test_mutated_lines_never_raise_and_harm_no_other_line(seed: int) -> None:
    chance = random.Random(seed)
    base = list(session_lines(60))
    seen: Counter[str | None] = Counter()
    for _ in range(FILES // 4):
        lines, untouched = [], []
        for number in range(1, LINES_A_FILE + 1):
            line = chance.choice(base)
            if chance.random() < 0.8:
                line = mutated(line, chance)
            else:
                untouched.append(number)
            lines.append(line)
        data = b"\n".join(lines)
        records = read(data)
        assert covered(records, data) == data
        assert [record.number for record in records] == list(range(1, len(records) + 1))
        verdict_of = {record.line: record.verdict for record in records}
        assert all(verdict_of[number] is None for number in untouched)
        seen.update(record.verdict for record in records)
    assert set(seen) <= VERDICTS
    assert {None, "invalid_json", "invalid_utf8", "recovered_splice", "nul_padding"} <= set(seen)


@pytest.mark.parametrize("seed", range(200))
def test_mutated_sources_of_every_layout_have_a_head_or_an_error_of_their_own(seed: int) -> None:
    chance = random.Random(seed)
    lines = list(session_lines(chance.randint(1, 5)))
    data = chance.choice(
        [
            b"\n".join(lines),
            b"[" + b",".join(lines) + b"]",
            b"[\n" + b",\n".join(lines) + b"\n]",
            b'{"messages":[' + b",\n".join(lines) + b"]}",
        ]
    )
    data = mutated(data, chance)
    try:
        head = read_head(opener(data), limits=LIMITS)
    except PhysicalError:
        return
    assert covered(read(data, layout=head.layout), data) == data
