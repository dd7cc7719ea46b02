"""Pointers into imported sessions are proved by a record table, each record by itself."""

from __future__ import annotations

import contextlib
import errno
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from compaction.errors import SourceSystemError
from compaction.sources.base import Bounds
from compaction.sources.files import STRICT, Root
from compaction.sources.records import FileBytes, ImportedTranscripts, RecordPlace
from compaction.sources.resolver import Resolver
from tests.compaction.source_trees import sha256

pytestmark = pytest.mark.nodb
FIRST = [b'{"content": "one"}\n', b"{bad\r\n", b'{"text": "three"}\r\n', "kein JSON, aber é\n".encode(), b'{"content": "']
SECOND = [b'{"content": "' + b"x" * 300_000 + b'"}\n']


@dataclass
class Table:
    """Two sources below one root; the records of the second count on."""

    root: Root
    rows: dict[int, RecordPlace] = field(default_factory=dict)
    opened_sources: list[str] = field(default_factory=list)

    def places(self, session_id: str, numbers: Sequence[int]) -> Mapping[int, RecordPlace] | None:
        return {number: self.rows[number] for number in numbers if number in self.rows} if session_id == "known" else None

    @contextlib.contextmanager
    def opened(self, source: str) -> Iterator[FileBytes]:
        self.opened_sources.append(source)
        with self.root.opened((), source) as file:
            yield FileBytes.checked(file, self.root, STRICT, Bounds())


def rows_of(source: str, records: Sequence[bytes], verdicts: Mapping[int, str], start: int) -> Iterator[tuple[int, RecordPlace]]:
    offset = 0
    for number, raw in enumerate(records, start=start):
        digest = hashlib.sha256(raw).digest()
        yield number, RecordPlace(source=source, offset=offset, length=len(raw), sha256=digest, verdict=verdicts.get(number, "ok"))
        offset += len(raw)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    (tmp_path / "first").write_bytes(b"".join(FIRST))
    (tmp_path / "second").write_bytes(b"".join(SECOND))
    with Root(tmp_path) as root:
        made = Table(root=root)
        made.rows |= dict(rows_of("first", FIRST, {2: "invalid_json", 5: "truncated_tail"}, 1))
        made.rows |= dict(rows_of("second", SECOND, {}, 6))
        yield made


def resolver(table: Table) -> Resolver:
    return Resolver(schemes=(ImportedTranscripts(table=table),), authorise=lambda _: True)


def test_each_record_is_proved_whatever_stands_before_it(table: Table) -> None:
    answers = resolver(table).resolve_all([f"transcript:known:{number}" for number in range(1, 8)]).resolutions
    assert [one.reason for one in answers] == [
        "verified_transcript_event",
        "transcript_invalid_json",
        "verified_transcript_event",
        "verified_transcript_event",
        "transcript_invalid_json",
        "verified_transcript_event",
        "transcript_event_missing",
    ]
    assert [one.excerpt and one.excerpt[:20] for one in answers] == [
        "one",
        None,
        '{"text": "three"}',
        "kein JSON, aber é",
        None,
        "x" * 20,
        None,
    ]
    assert table.opened_sources == ["first", "second"]


def test_the_evidence_is_the_record_without_its_line_end_so_growth_changes_nothing(table: Table) -> None:
    answer = resolver(table).resolve("transcript:known:3")
    assert answer.evidence_sha256 == sha256(FIRST[2].rstrip())


def test_an_oversize_record_is_corrupt_and_not_read(table: Table) -> None:
    table.rows[6] = replace(table.rows[6], verdict="oversize", length=2**40)
    assert resolver(table).resolve("transcript:known:6").reason == "transcript_record_too_large"


@pytest.mark.parametrize("change", [{"offset": 1}, {"length": 3}, {"sha256": b"x" * 32}, {"offset": 10**9}])
def test_bytes_that_the_table_does_not_vouch_for_are_corrupt(table: Table, change: dict[str, object]) -> None:
    table.rows[1] = replace(table.rows[1], **change)  # type: ignore[arg-type]
    assert resolver(table).resolve("transcript:known:1").reason == "transcript_digest_mismatch"


def test_an_unknown_session_and_bytes_that_are_gone_are_missing(table: Table, tmp_path: Path) -> None:
    assert resolver(table).resolve("transcript:other:1").reason == "transcript_missing"
    (tmp_path / "second").unlink()
    answers = resolver(table).resolve_all(["transcript:known:6", "transcript:known:1"]).resolutions
    assert [one.reason for one in answers] == ["transcript_missing", "verified_transcript_event"]


def test_a_source_that_the_machine_cannot_open_fails_alone(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = table.opened

    def failing(source: str) -> contextlib.AbstractContextManager[FileBytes]:
        if source == "second":
            raise OSError(errno.EMFILE, "x")
        return opened(source)

    monkeypatch.setattr(table, "opened", failing)
    resolved = resolver(table).resolve_all(["transcript:known:6", "transcript:known:1"])
    assert [one.status for one in resolved.resolutions] == ["available"]
    assert [(one.pointer, one.error.cause) for one in resolved.failures] == [("transcript:known:6", "EMFILE")]


def test_a_table_that_cannot_be_asked_fails_all_of_the_session(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(session_id: str, numbers: Sequence[int]) -> Mapping[int, RecordPlace] | None:
        raise SourceSystemError("the database is away", cause="database")

    monkeypatch.setattr(table, "places", failing)
    resolved = resolver(table).resolve_all(["transcript:known:6", "transcript:known:1"])
    assert [one.error.cause for one in resolved.failures] == ["database", "database"]
