"""An import that is stopped, split, overtaken or cut off from its machine ends as one that was not."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, connections

from ctxweb.home import Home
from ctxweb.jobs import JobRun, job_cancel, job_claim
from ctxweb.models import Body, Job, Record, Revision, Session, Source
from ctxweb.services import jobs_run
from ctxweb.services.importing import parsing
from ctxweb.services.jobs_run import claimed_run
from ctxweb.services.rebuild import rebuild
from ctxweb.services.session_import import import_enqueue, session_import
from ctxweb.storage import StorageError, blob_names
from tests.ctxweb.services.sessions_made import session
from tests.stress.test_import_kills import rows

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def path(home: Home, tmp_path: Path) -> Path:
    file = tmp_path / "session.jsonl"
    file.write_bytes(session(40))
    return file


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Instead of a broker: the ids for which it was rung."""
    ids: list[int] = []
    monkeypatch.setattr("ctxweb.jobs._send", ids.append)
    return ids


def test_a_chain_of_short_tasks_gives_what_one_run_gives(path: Path, rung: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    session_import(name="s", path=path)
    undisturbed = rows()
    Session.objects.all().delete()
    Source.objects.all().delete()
    Job.objects.all().delete()
    monkeypatch.setattr(parsing, "BATCH_ROWS", 9)
    monkeypatch.setattr(jobs_run, "SLICE_SECONDS", -1)  # each task ends behind its first batch
    with path.open("rb") as stream:
        import_enqueue(name="s", stream=stream)
    tasks = 0
    while rung:
        tasks += 1
        assert Session.objects.exists() == (Job.objects.get().cursor.get("member") == 1)
        jobs_run.job_run(job_id=rung.pop())
        rung[1:] = []
    assert (Job.objects.get().state, rows()) == ("succeeded", undisturbed)
    assert tasks > 8


def test_a_cancelled_import_leaves_nothing(path: Path, rung: list[int]) -> None:
    with path.open("rb") as stream:
        job = import_enqueue(name="s", stream=stream)
    claimed = job_claim(job_id=job.pk)
    assert claimed is not None
    job_cancel(job=job)
    claimed_run(job=claimed)
    job.refresh_from_db()
    assert (job.state, Source.objects.count(), Record.objects.count(), list(blob_names())) == ("cancelled", 0, 0, [])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OperationalError("database or disk is full"), "disk_full"),
        (OperationalError("server closed the connection"), "database_unavailable"),
        (StorageError("disk_full", "No space is left."), "disk_full"),
    ],
)
def test_an_import_that_cannot_go_on_says_so_and_goes_on_later(
    path: Path, rung: list[int], monkeypatch: pytest.MonkeyPatch, error: Exception, code: str
) -> None:
    def fails(**_: Any) -> None:
        raise error

    with monkeypatch.context() as broken:
        broken.setattr("ctxweb.services.importing.import_run.bodies_count", fails)
        failed = session_import(name="s", path=path)
    assert failed.error is not None
    assert failed.error["code"] == code
    assert (Session.objects.count(), Record.objects.count(), Job.objects.get().state) == (0, 40, "queued")
    assert session_import(name="s", path=path).objects()[0]["status"] == "imported"


def test_an_import_that_was_given_up_leaves_no_trace_in_the_next_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**_: Any) -> None:
        raise KeyError

    with monkeypatch.context() as broken:
        broken.setattr("ctxweb.services.importing.publishing.stored_map", fails)
        assert session_import(name="s", path=path).failed
    assert Revision.objects.get().state == "importing"
    assert not session_import(name="s", path=path).failed
    assert Revision.objects.get().state == "ready"


def test_an_error_of_our_own_names_its_place_and_no_text(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(**_: Any) -> None:
        raise KeyError("secret words of a transcript")

    monkeypatch.setattr("ctxweb.services.importing.import_run.bodies_count", fails)
    failed = session_import(name="s", path=path)
    assert failed.error is not None
    assert failed.error["code"] == "internal"
    assert "KeyError at test_import_stops.py" in failed.error["message"]
    assert "secret" not in failed.error["message"] + caplog.text


def test_the_same_bytes_from_two_processes_at_once_are_one_import(path: Path) -> None:
    results = []

    def work() -> None:
        results.append(session_import(name="s", path=path))
        connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.failed for result in results] == [False] * 4
    assert (Source.objects.count(), Session.objects.count(), Record.objects.count()) == (1, 1, 40)


def test_readers_see_a_session_only_when_it_is_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "BATCH_ROWS", 5)
    seen = []
    session_import(name="s", path=path, progress=lambda job: seen.append((job.state, Session.objects.count())))
    assert {count for state, count in seen if state == "leased"} == {0, 1}
    assert [count for _, count in seen] == sorted(count for _, count in seen)
    assert Session.objects.get().record_count == 40


def test_an_import_waits_for_a_database_that_another_process_has_locked(path: Path) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has no lock on the whole database")
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(5, other.rollback)
    release.start()
    assert not session_import(name="s", path=path).failed
    release.join()
    other.close()


def test_too_many_imports_at_once_wait_in_the_queue(path: Path, rung: list[int], settings: Any) -> None:
    settings.CTXWEB_CONCURRENT_IMPORTS = 1
    with path.open("rb") as stream:
        first = import_enqueue(name="a", stream=stream)
    assert job_claim(job_id=first.pk) is not None
    second = Job.objects.create(public_id="b" * 20, kind="import", key="b" * 64)
    jobs_run.job_run(job_id=second.pk)
    second.refresh_from_db()
    assert second.state == "queued"


def test_the_sweep_rings_for_what_nobody_works_on(path: Path, rung: list[int]) -> None:
    with path.open("rb") as stream:
        job = import_enqueue(name="a", stream=stream)
    rung.clear()
    jobs_run.jobs_sweep()
    assert rung == [job.pk]
    claimed = job_claim(job_id=job.pk)
    assert claimed is not None
    rung.clear()
    jobs_run.jobs_sweep()
    assert rung == []
    JobRun(claimed).end("succeeded")
    jobs_run.jobs_sweep()
    assert rung == []


def test_a_rebuild_changes_no_id_and_no_figure(path: Path, home: Home) -> None:
    session_import(name="s", path=path)
    path.write_bytes(session(40).replace(b"question 1 ", b"question X "))
    session_import(name="s", path=path)
    names = [field.attname for field in Session._meta.concrete_fields if field.attname not in ("id", "current_id", "imported_at")]
    before, sessions = rows(), list(Session.objects.values_list(*names))
    assert rebuild(progress=lambda _: None).failed == ()
    assert rows() == before
    assert list(Session.objects.values_list(*names)) == sessions
    assert (Source.objects.count(), Source.objects.filter(superseded_by__isnull=False).count()) == (2, 1)


def test_a_rebuild_that_was_stopped_goes_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session_import(name="s", path=path)
    before = rows()
    with monkeypatch.context() as broken:
        broken.setattr("ctxweb.services.rebuild.index_clear", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            rebuild(progress=lambda _: None)
    assert Session.objects.count() == 0
    Job.objects.filter(kind="rebuild").update(lease_until=None)
    assert rebuild(progress=lambda _: None).failed == ()
    assert rows() == before
    assert Body.objects.exists()
