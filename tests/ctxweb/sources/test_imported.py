"""Sources of imported sessions: records by the table, spilled texts by the body store, and whose they are."""

from __future__ import annotations

import gzip
import hashlib
import os
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from compaction.ask import artifact_pointer
from compaction.sources.resolution import STATUSES
from ctxweb.models import Project, Session
from ctxweb.sources.resolving import project_resolver
from ctxweb.storage import blob_path
from tests.ctxweb.sources.made import Artifacts, imported, look, pointer_to, records, resolve, said

pytestmark = pytest.mark.django_db(transaction=True)

LONG = "long " * 40_000  # above the 100,000 characters of a transcript root


def test_a_record_is_available_whatever_stands_before_it_and_however_long_it_is(project: Project) -> None:
    data = records(said("first"), b"{not json\n", said(LONG), said("last"))
    session = imported(data)
    line = data.split(b"\n")[3]
    found = resolve(project, f"transcript:{session.public_id}:4")
    assert (found.status, found.evidence_sha256) == ("available", hashlib.sha256(line).hexdigest())
    assert resolve(project, f"transcript:{session.public_id}:5").excerpt == "last"
    assert look(project, f"transcript:{session.public_id}:3") == ("corrupt", "transcript_invalid_json")
    assert look(project, f"transcript:{session.public_id}:6") == ("missing", "transcript_event_missing")


def test_records_that_could_not_be_read_are_corrupt(project: Project, settings: Any) -> None:
    settings.CTXWEB_MAX_LINE_BYTES = 2_000
    session = imported(records(said("first"), said("x" * 3_000), b'{"type": "message", "ro'))
    assert look(project, f"transcript:{session.public_id}:3") == ("corrupt", "transcript_record_too_large")
    assert look(project, f"transcript:{session.public_id}:4") == ("corrupt", "transcript_invalid_json")


def test_a_packed_session_is_read_through_its_packing(project: Project) -> None:
    session = imported(gzip.compress(records(*(said(f"text {number}") for number in range(50)))), name="talk.jsonl.gz")
    assert resolve(project, f"transcript:{session.public_id}:40").excerpt == "text 38"


def test_altered_and_lost_bytes_are_told_apart(project: Project) -> None:
    session = imported(records(said("first"), said("second")))
    assert session.current is not None
    path, pointer = blob_path(session.current.source.sha256), f"transcript:{session.public_id}:3"
    path.write_bytes(path.read_bytes().replace(b"second", b"SECOND"))
    assert look(project, pointer) == ("corrupt", "transcript_digest_mismatch")
    path.unlink()
    assert look(project, pointer)[0] == "missing"


def test_a_backup_by_hard_links_leaves_the_store_readable(project: Project, artifacts: Artifacts) -> None:
    session = imported(records(said("first")))
    assert session.current is not None
    os.link(blob_path(session.current.source.sha256), artifacts.root / "backup")
    assert look(project, f"transcript:{session.public_id}:2")[0] == "available"


def test_an_unknown_session_is_allowed_and_then_missing(project: Project) -> None:
    assert look(project, "transcript:nobody:1") == ("missing", "transcript_missing")
    assert look(project, "artifact:nobody:r.txt:" + "0" * 12) == ("missing", "artifact_missing")


def test_a_session_that_is_not_imported_is_looked_for_in_the_roots(project: Project, artifacts: Artifacts) -> None:
    project.transcript_roots = [str(artifacts.root / "nowhere"), str(artifacts.root)]
    (artifacts.root / "s1.jsonl").write_bytes(b'{"content": "from a root"}\n')
    assert resolve(project, "transcript:s1:1").excerpt == "from a root"


def test_what_is_of_another_project_is_refused_without_a_look(
    project: Project, artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file system call and no database call, whether the thing exists or not."""
    session = imported(records(said("first")))
    there = artifacts.write(session.public_id, "r.txt", b"evidence")
    other = Project.objects.create(id="other", name="Other", artifact_roots=project.artifact_roots)
    pointers = [f"transcript:{session.public_id}:2", f"transcript:{session.public_id}:99", there, pointer_to(session.public_id, "n", b"")]
    calls: list[str] = []
    with project_resolver(project=other, pointers=pointers) as opened:
        for name in ("open", "stat", "read", "pread", "fstat", "lstat", "listdir", "scandir"):
            monkeypatch.setattr(os, name, lambda *_a, _name=name, **_k: calls.append(_name))
        with CaptureQueriesContext(connection) as queries:
            found = opened.resolver.resolve_all(pointers).resolutions
        monkeypatch.undo()
    assert {(one.status, one.reason) for one in found} == {("denied", "policy_denied")}
    assert (calls, len(queries)) == ([], 0)
    assert look(project, there)[0] == "available"


def test_a_spilled_text_is_read_from_the_body_store_of_its_own_session(project: Project) -> None:
    session, stranger = imported(records(said("spilled text"))), imported(records(said("other text")), name="other.jsonl")
    pointer = artifact_pointer(session.public_id, "spilled text")
    assert resolve(project, pointer).excerpt == "spilled text"
    assert look(project, pointer) == ("available", "verified_artifact")
    assert look(project, artifact_pointer(stranger.public_id, "spilled text")) == ("missing", "artifact_missing")


def test_the_question_about_sessions_is_one_for_all_pointers(project: Project) -> None:
    session = imported(records(*(said(str(number)) for number in range(20))))
    pointers = [f"transcript:{session.public_id}:{number}" for number in range(2, 20)]
    with CaptureQueriesContext(connection) as queries, project_resolver(project=project, pointers=pointers) as opened:
        assert len(opened.resolver.resolve_all(pointers).resolutions) == 18
    assert len(queries) == 2  # whose sessions, and where the records


ODD = (
    "", " ", "x", "transcript:", "transcript:\0:1", "artifact:a:b:c", "object:s:k:d", "file+git:r:c:p", "transcript:\ud800:1",
    "transcript:a:" + "9" * 700,
)  # fmt: skip


@pytest.mark.parametrize("pointer", ODD)
def test_every_text_has_a_status(project: Project, pointer: str) -> None:
    assert look(project, pointer)[0] in STATUSES
    assert not Session.objects.exists()
