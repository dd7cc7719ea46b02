"""The chain of audit entries: each kind of tampering is seen, and where."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.errors import AuditError
from compaction.sources.chain import NOTHING, AuditEntry, ChainReport, Head, Look, append, append_all, check_chain
from compaction.sources.resolution import SourceResolution
from compaction.sources.verify_bundle import CHAINED, entry_hash

pytestmark = pytest.mark.nodb
KEY = b"the key of the project"
COUNT = 30
LOOK = Look(
    pointer="transcript:s:1",
    status="available",
    digest="a" * 64,
    reason="verified_transcript_event",
    actor="alice",
    policy_version="1",
    resolver_version="1",
    started_at="2026-11-30T09:00:00Z",
    finished_at="2026-11-30T09:00:01Z",
    run="r1",
)
CHAIN = list(append_all(Head(), (replace(LOOK, pointer=f"transcript:s:{n}") for n in range(1, COUNT + 1)), tenant="p", key=KEY))
HEAD = Head(COUNT, CHAIN[-1].hash)


def rehashed(entry: AuditEntry, **changes: object) -> AuditEntry:
    """The entry after somebody without the key made it fit again."""
    changed = replace(entry, **changes)  # type: ignore[arg-type]
    return replace(changed, hash=entry_hash(changed))


def rechained(entries: Sequence[AuditEntry], place: int, key: bytes | None = None, **changes: str) -> list[AuditEntry]:
    """From a place on, everything written again."""
    looks = [Look(**{name: getattr(entry, name) for name in Look.__dataclass_fields__}) for entry in entries[place:]]
    looks[0] = replace(looks[0], **changes)
    before = Head(place, entries[place - 1].hash if place else NOTHING)
    return [*entries[:place], *append_all(before, iter(looks), tenant="p", key=key)]


def told(report: ChainReport) -> list[tuple[str, int, int]]:
    return [(one.kind, one.first, one.last) for one in report.breaks]


def check(entries: Sequence[AuditEntry], **named: object) -> list[tuple[str, int, int]]:
    return told(check_chain(entries, **{"head": HEAD, "key": KEY, **named}))  # type: ignore[arg-type]


TAMPERED: dict[str, tuple[Callable[[], list[AuditEntry]], list[tuple[str, int, int]]]] = {
    "edit of a field": (lambda: [*CHAIN[:9], replace(CHAIN[9], status="missing"), *CHAIN[10:]], [("edited", 10, 10)]),
    "edit of a number": (lambda: [*CHAIN[:9], replace(CHAIN[9], seq=99), *CHAIN[10:]], [("edited", 10, 10)]),
    "edit of a link": (lambda: [*CHAIN[:9], replace(CHAIN[9], prev_hash="x"), *CHAIN[10:]], [("edited", 10, 10)]),
    "edit of a hash": (lambda: [*CHAIN[:9], replace(CHAIN[9], hash="0" * 64), *CHAIN[10:]], [("edited", 10, 10)]),
    "edit of the last": (lambda: [*CHAIN[:-1], replace(CHAIN[-1], status="missing")], [("edited", 30, 30)]),
    "edit of the first": (lambda: [replace(CHAIN[0], status="missing"), *CHAIN[1:]], [("edited", 1, 1)]),
    "delete in the middle": (lambda: [*CHAIN[:9], *CHAIN[12:]], [("deleted", 10, 12)]),
    "delete at the beginning": (lambda: CHAIN[3:], [("deleted", 1, 3)]),
    "delete twice": (lambda: [*CHAIN[:4], *CHAIN[6:20], *CHAIN[21:]], [("deleted", 5, 6), ("deleted", 21, 21)]),
    "delete at the end": (lambda: CHAIN[:-3], [("cut", 28, 30)]),
    "delete all": (list, [("emptied", 1, 30)]),
    "reorder neighbours": (lambda: [*CHAIN[:9], CHAIN[10], CHAIN[9], *CHAIN[11:]], [("reordered", 11, 11)]),
    "reorder by numbers": (
        lambda: [*CHAIN[:9], replace(CHAIN[10], seq=10), replace(CHAIN[9], seq=11), *CHAIN[11:]],
        [("edited", 10, 10), ("edited", 11, 11)],
    ),
    "insert a copy": (lambda: [*CHAIN[:9], CHAIN[4], *CHAIN[9:]], [("inserted", 5, 5)]),
    "insert a forged one": (lambda: [*CHAIN[:10], rehashed(CHAIN[9], status="missing"), *CHAIN[10:]], [("inserted", 10, 10)]),
    "insert before its original": (lambda: [*CHAIN[:9], rehashed(CHAIN[9], status="missing"), *CHAIN[9:]], [("inserted", 10, 10)]),
    "insert at the end": (lambda: [*CHAIN, append(HEAD, LOOK, tenant="p", key=KEY)[0]], [("inserted", 31, 31)]),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_tampering_is_seen_with_its_kind_and_place(name: str) -> None:
    tampered, expected = TAMPERED[name]
    assert check(tampered()) == expected


def test_an_edit_that_was_hashed_again_is_seen_at_its_place() -> None:
    entries = [*CHAIN[:9], rehashed(CHAIN[9], status="missing"), *CHAIN[10:]]
    assert ("edited", 10, 10) in check(entries, key=None)
    assert ("forged", 10, 10) in check(entries)


def test_a_chain_that_holds_says_its_head_and_count() -> None:
    report = check_chain(iter(CHAIN), head=HEAD, key=KEY, anchors=[Head(7, CHAIN[6].hash), HEAD])
    assert (report.head, report.count, report.breaks, report.anchored_to) == (HEAD, COUNT, (), COUNT)
    assert check_chain([]).head == Head()


def test_a_chain_written_again_without_the_key_is_forged_and_fails_against_head_and_anchor() -> None:
    entries = rechained(CHAIN, 9, status="missing")
    assert check(entries, key=None, head=None) == []
    assert check(entries, key=None) == [("rechained", 30, 30)]
    assert check(entries, head=None)[0] == ("forged", 10, 10)
    assert check(entries, key=None, head=None, anchors=[Head(20, CHAIN[19].hash)]) == [("rechained", 20, 20)]


def test_a_chain_written_again_with_the_key_is_seen_by_an_anchor_only_and_that_is_said() -> None:
    entries = rechained(CHAIN, 9, KEY, status="missing")
    head = Head(COUNT, entries[-1].hash)
    assert check(entries, head=head) == []
    report = check_chain(entries, head=head, key=KEY, anchors=[Head(5, CHAIN[4].hash)])
    assert (report.breaks, report.anchored_to) == ((), 5)
    assert check(entries, head=head, anchors=[Head(12, CHAIN[11].hash)]) == [("rechained", 12, 12)]


def test_an_anchor_beyond_the_end_says_what_is_gone() -> None:
    assert check(CHAIN[:20], head=None, anchors=[HEAD]) == [("cut", 21, 30)]
    assert check([], head=None, anchors=[HEAD]) == [("emptied", 1, 30)]


def test_a_segment_is_checked_from_where_it_begins() -> None:
    assert check(CHAIN[10:], start=Head(10, CHAIN[9].hash)) == []
    assert check(CHAIN[10:], start=Head(10, "f" * 64))[0][0] == "edited"


def test_the_canonical_form_is_the_documented_one() -> None:
    entry = CHAIN[1]
    raw = b"ctx-audit-v1\0" + bytes.fromhex(CHAIN[0].hash)
    for value in ("p", "2", "transcript:s:2", "available", "a" * 64, *(getattr(entry, name) for name in CHAINED[5:])):
        raw += len(value.encode()).to_bytes(8, "big") + value.encode()
    assert entry.hash == hashlib.sha256(raw).hexdigest()
    assert entry.mac == hmac.new(KEY, bytes.fromhex(entry.hash), "sha256").hexdigest()
    assert CHAIN[0].prev_hash == NOTHING


@given(
    st.lists(st.text(st.characters(), max_size=6), min_size=2, max_size=2, unique=True),
    st.sampled_from(["pointer", "actor", "run", "reason"]),
)
def test_two_looks_that_differ_have_two_hashes(texts: list[str], name: str) -> None:
    one, other = (append(Head(), replace(LOOK, **{name: text}), tenant="p")[0] for text in texts)
    assert one.hash != other.hash


@given(st.text(max_size=4), st.text(max_size=4))
def test_text_cannot_move_from_one_field_to_the_next(left: str, right: str) -> None:
    moved = replace(LOOK, status=left + right, digest="")
    kept = replace(LOOK, status=left, digest=right)
    assert (append(Head(), moved, tenant="p")[0].hash == append(Head(), kept, tenant="p")[0].hash) == (right == "")


@given(st.lists(st.integers(0, COUNT - 1), max_size=COUNT + 3))
def test_whatever_is_left_out_doubled_or_moved_is_seen(places: list[int]) -> None:
    entries = [CHAIN[place] for place in places]
    assert bool(check(entries)) == (places != list(range(COUNT)))


def test_a_field_that_is_no_text_is_refused() -> None:
    with pytest.raises(AuditError, match="actor"):
        append(Head(), replace(LOOK, actor=7), tenant="p")  # type: ignore[arg-type]


def test_a_look_takes_no_excerpt_from_a_resolution() -> None:
    resolution = SourceResolution(pointer="transcript:s:1", status="missing", reason="transcript_missing", excerpt="secret", run="r")
    look = Look.of(resolution, actor="beat", policy_version="1", resolver_version="1", started_at="t", finished_at="t")
    assert (look.status, look.digest, look.run) == ("missing", "", "r")
    assert "secret" not in repr(look)


@pytest.mark.parametrize(
    "text", ["", "1", "1:x", "x:" + "a" * 64, "1:" + "A" * 64, "-1:" + "a" * 64, "9" * 5000 + ":" + "a" * 64, "²:" + "a" * 64]
)
def test_a_text_that_is_no_head_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="NUMBER:HASH"):
        Head.read(text)


def test_a_head_is_read_as_it_is_written() -> None:
    assert Head.read(f" {HEAD}\n") == HEAD
