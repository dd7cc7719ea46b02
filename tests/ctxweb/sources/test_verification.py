"""Verification by jobs: what is written, what is counted, what is tried again, and when."""

from __future__ import annotations

import errno
import json
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from compaction.sources.base import Bounds
from compaction.sources.files import Root
from ctxweb.jobs import job_claim
from ctxweb.models import AuditEntry, Job, Project
from ctxweb.queries.roots import absence_told, absent_roots
from ctxweb.services import source_jobs
from ctxweb.services.jobs_run import WORK, claimed_run
from ctxweb.services.source_jobs import project_verification_open, verification_open, verifications_due
from ctxweb.services.source_verify import sources_check
from tests.ctxweb.sources.made import Artifacts, imported, keep, records, said

pytestmark = pytest.mark.django_db(transaction=True)
SESSION = "s" * 20


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxweb.jobs._send", lambda job_id: None)


def work(job: Job) -> Job:
    """What a worker does with the job, once."""
    Job.objects.filter(pk=job.pk).update(run_after=None)
    claimed = job_claim(job_id=job.pk)
    assert claimed is not None
    claimed_run(job=claimed)
    job.refresh_from_db()
    return job


def entries(project: Project) -> list[tuple[str, str, str]]:
    return list(AuditEntry.objects.filter(project=project).order_by("seq").values_list("pointer", "status", "reason"))


def test_a_requested_check_writes_an_entry_for_each_source_changed_or_not(project: Project, artifacts: Artifacts) -> None:
    pointers = sorted([artifacts.write(SESSION, "a.txt", b"a"), f"transcript:{SESSION}:1", "junk", "mail:x"])
    keep(project, SESSION, [*pointers, pointers[0]])
    job = verification_open(project=project, actor="Ann", session=SESSION)
    for _ in range(2):
        job = work(job if job.state == "queued" else verification_open(project=project, actor="Ann", session=SESSION))
        assert (job.state, job.done, job.total, job.unit) == ("succeeded", 4, 4, "sources")
    found = entries(project)
    assert found[:4] == found[4:]
    assert {pointer: status for pointer, status, _ in found[:4]} == {
        pointers[0]: "available", "junk": "unsupported", "mail:x": "unsupported", pointers[-1]: "missing",
    }  # fmt: skip
    rounds = list(AuditEntry.objects.order_by("seq").values_list("run", "actor"))
    assert {actor for _, actor in rounds} == {"Ann"}
    assert len({run for run, _ in rounds}) == 2
    assert job.result is not None
    assert {name: job.result[name] for name in ("available", "missing", "unsupported", "changed", "unread")} == {
        "available": 1, "missing": 1, "unsupported": 2, "changed": 0, "unread": 0,
    }  # fmt: skip


def test_one_pointer_can_be_verified_alone(project: Project, artifacts: Artifacts) -> None:
    first, second = artifacts.write(SESSION, "a.txt", b"a"), artifacts.write(SESSION, "b.txt", b"b")
    keep(project, SESSION, [first, second])
    assert work(verification_open(project=project, actor="Ann", session=SESSION, pointer=second)).state == "succeeded"
    assert [pointer for pointer, _, _ in entries(project)] == [second]


def test_another_digest_than_at_confirmation_is_available_and_found(project: Project, artifacts: Artifacts) -> None:
    (artifacts.root / "s1.jsonl").write_bytes(b'{"content": "as it is now"}\n')
    project.transcript_roots = [str(artifacts.root)]
    project.save()
    keep(project, SESSION, ["transcript:s1:1"], confirmed="0" * 64)
    job = work(verification_open(project=project, actor="Ann", session=SESSION))
    assert job.result is not None
    assert (job.result["available"], job.result["changed"]) == (1, 1)
    checked = sources_check(project=project, pointers=["transcript:s1:1"], run="", confirmed={"transcript:s1:1": {"0" * 64}})
    assert checked.changed == {"transcript:s1:1"}


def test_what_the_machine_cannot_look_at_is_tried_again_and_gets_no_status(
    project: Project, artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = artifacts.write(SESSION, "a.txt", b"a"), artifacts.write(SESSION, "b.txt", b"b")
    keep(project, SESSION, [good, bad])
    opened = Root.opened

    def too_many(self: Root, folders: Any, name: str) -> Any:
        if name == "b.txt":
            raise OSError(errno.EMFILE, "too many open files")
        return opened(self, folders, name)

    monkeypatch.setattr(Root, "opened", too_many)
    job = work(verification_open(project=project, actor="Ann", session=SESSION))
    assert (job.state, (job.error or {})["code"]) == ("queued", "sources_unread")
    assert "EMFILE" in (job.error or {})["message"]
    assert job.run_after is not None
    assert [pointer for pointer, _, _ in entries(project)] == [good]
    monkeypatch.undo()
    monkeypatch.setattr("ctxweb.jobs._send", lambda job_id: None)
    assert (work(job).state, job.error) == ("succeeded", None)
    assert [pointer for pointer, _, _ in entries(project)] == [good, bad]


def test_after_three_tries_the_job_fails_and_says_how_many(project: Project, artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(project, SESSION, [artifacts.write(SESSION, "a.txt", b"a")])
    monkeypatch.setattr(Bounds, "start", lambda self: (_ for _ in ()).throw(MemoryError))
    job = verification_open(project=project, actor="Ann", session=SESSION)
    states = [work(job).state for _ in range(3)]
    assert states == ["queued", "queued", "failed"]
    assert (job.result or {})["unread"] == 1
    assert entries(project) == []


def test_a_failed_disk_is_corrupt_and_an_alert(
    project: Project, artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pointer = artifacts.write(SESSION, "a.txt", b"a")
    keep(project, SESSION, [pointer])

    def fails(*_: Any) -> bytes:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr("compaction.sources.files.os.pread", fails)
    job = verification_open(project=project, actor="Ann", session=SESSION)
    claimed = job_claim(job_id=job.pk)
    assert claimed is not None
    claimed_run(job=claimed)
    monkeypatch.undo()
    job.refresh_from_db()
    assert entries(project) == [(pointer, "corrupt", "source_read_failed")]
    assert (job.result or {})["alarms"] == 1
    assert "ALERT" in caplog.text


def test_a_long_job_goes_on_behind_what_it_committed(project: Project, artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    pointers = [artifacts.write(SESSION, f"{number}.txt", b"a") for number in range(7)]
    keep(project, SESSION, pointers)
    monkeypatch.setattr(source_jobs, "FEW_POINTERS", 3)
    monkeypatch.setattr(source_jobs, "BATCH_POINTERS", 3)
    job = verification_open(project=project, actor="Ann", session=SESSION)
    runs = 0
    while job.state == "queued":
        claimed = job_claim(job_id=job.pk)
        assert claimed is not None
        claimed_run(job=claimed, deadline=0.0)
        job.refresh_from_db()
        runs += 1
    assert (job.state, runs) == ("succeeded", 4)
    assert sorted(pointer for pointer, _, _ in entries(project)) == sorted(pointers)
    assert AuditEntry.objects.values("run").distinct().count() == 1


def test_a_project_is_split_into_parts_of_at_least_500_that_are_one_round(project: Project) -> None:
    for number in range(30):
        keep(project, f"session{number:04}", [f"transcript:session{number:04}:{one}" for one in range(1, 201)])
    jobs = project_verification_open(project=project, actor="schedule")
    assert [len(job.params["sessions"]) for job in jobs] == [10, 10, 10]
    assert {work(job).state for job in jobs} == {"succeeded"}
    assert AuditEntry.objects.count() == 6_000
    assert AuditEntry.objects.values("run").distinct().count() == 1


def test_the_schedule_of_a_project_is_kept_and_a_round_that_runs_is_not_doubled(project: Project) -> None:
    keep(project, SESSION, ["transcript:x:1"])
    assert verifications_due() == 0  # no schedule
    project.verify_minutes = 60
    project.save()
    assert verifications_due() == 1
    assert verifications_due(now=timezone.now() + timedelta(days=1)) == 0  # the round is not over
    work(Job.objects.get())
    assert verifications_due(now=timezone.now() + timedelta(minutes=59)) == 0
    assert verifications_due(now=timezone.now() + timedelta(minutes=61)) == 1
    assert list(AuditEntry.objects.values_list("actor", flat=True)) == ["schedule"]


def test_the_api_answers_with_a_job(project: Project) -> None:
    session = imported(records(said("first")))
    keep(project, session.public_id, [f"transcript:{session.public_id}:2"])
    headers = {"authorization": f"Bearer {settings.API_TOKEN}"}
    address = f"/api/v1/sessions/{session.public_id}/verifications"
    answer = Client().post(address, json.dumps({"actor": "Ann"}), content_type="application/json", headers=headers)
    assert (answer.status_code, answer.json()["kind"], answer.json()["state"]) == (202, "verify", "queued")
    work(Job.objects.get(public_id=answer.json()["id"]))
    assert Client().generic("POST", address, headers=headers).status_code == 202  # nothing said: all of them, for whoever has the token
    assert entries(project) == [(f"transcript:{session.public_id}:2", "available", "verified_transcript_event")]
    assert (
        Client().post("/api/v1/sessions/nothere/verifications", b"{}", content_type="application/json", headers=headers).status_code == 404
    )
    assert Client(enforce_csrf_checks=True).post(address, b"{}", content_type="application/json").status_code == 403


def test_verification_is_a_job_like_others() -> None:
    assert "verify" in WORK


def test_a_root_that_is_not_there_is_told_on_the_pages_and_by_health(project: Project, artifacts: Artifacts) -> None:
    assert absence_told(project) == ""
    project.artifact_roots = [str(artifacts.root), str(artifacts.root / "gone")]
    project.save()
    assert absent_roots(project) == (str(artifacts.root / "gone"),)
    session = imported(records(said("first")))
    for address in ("/audit", f"/s/{session.public_id}/sources", "/settings"):
        assert "cannot be read: sources below answer missing" in Client().get(address).content.decode(), address
