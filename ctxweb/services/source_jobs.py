"""Jobs that verify sources: of a session or one pointer when somebody asks, of a project when its time has come.

A project's pointers are split into parts of at least 500, each a job of its own, so that every worker has one.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from compaction.sources.resolver import Failure
from ctxweb.jobs import FINAL, JobRun, job_open, job_ring
from ctxweb.models import DurableItem, Job, Project
from ctxweb.services.audit import resolutions_append
from ctxweb.services.source_verify import Checked, confirmed_digests, sources_check

KIND = "verify"
Scope = Literal["pointer", "session", "project"]
SCHEDULE = "schedule"  # the actor of a check that nobody asked for
PART_POINTERS = 2_000  # at least 500, so that a job's own cost does not count
FEW_POINTERS, BATCH_POINTERS = 10, 1_000  # of the first batch, and of those after quick ones, between two commits
SLOW_SECONDS = 10.0  # of a batch, after which the next is smaller
TRIES = 3  # of a pointer that the machine could not look at
AGAIN_SECONDS = 30
NAMED_CAUSES = 5


def verification_open(*, project: Project, actor: str, session: str, pointer: str = "") -> Job:
    """The job that verifies the sources of a session, or one pointer, queued for a worker; the one that runs, if one does."""
    scope: Scope = "pointer" if pointer else "session"
    what = {"scope": scope, "project": project.pk, "sessions": [session], "pointer": pointer}
    return _open(key=[KIND, scope, project.pk, session, pointer], name=pointer or f"sources of {session}", actor=actor, what=what)


def project_verification_open(*, project: Project, actor: str) -> list[Job]:
    """The jobs that verify all sources of a project, one a part; they are one round of the audit."""
    run, opened_at = secrets.token_hex(10), timezone.now().isoformat()
    jobs = []
    for number, sessions in enumerate(_parts(project)):
        what = {"scope": "project", "project": project.pk, "sessions": sessions, "run": run, "opened_at": opened_at}
        name = f"sources of project {project.pk}, part {number + 1}"
        jobs.append(_open(key=[KIND, "project", project.pk, number], name=name, actor=actor, what=what))
    return jobs


def verifications_due(*, now: datetime | None = None) -> int:
    """Open the verification of each project whose time has come; returns how many jobs that made."""
    opened = 0
    for project in Project.objects.filter(verify_minutes__isnull=False):
        if _is_due(project, now or timezone.now()):
            opened += len(project_verification_open(project=project, actor=SCHEDULE))
    return opened


def verify_work(run: JobRun) -> None:
    """The work of such a job. Its result counts the statuses, what changed since it was confirmed, and the alarms."""
    params = run.job.params
    project = Project.objects.filter(pk=params["project"]).first()
    if project is None:
        run.end("failed", error={"code": "no_project", "message": "The project is not there any more."})
        return
    _Verification(run=run, project=project).go()


class _Verification:
    """One run of a job: what is left of its pointers, batch by batch, each committed with its audit entries."""

    def __init__(self, *, run: JobRun, project: Project) -> None:
        self.run, self.project = run, project
        params, cursor = run.job.params, run.job.cursor
        self.round = params.get("run") or f"{run.job.public_id}-{cursor.get('round') or _round_of(run)}"
        self.sums: Counter[str] = Counter(cursor.get("sums", {}))
        self.tries: int = cursor.get("tries", 0)
        self.failed: list[str] = list(cursor.get("failed", ()))
        self.causes: Counter[str] = Counter()
        self.confirmed: Mapping[str, Collection[str]] = self._pointers(params)
        self.left = self._left(cursor)

    def go(self) -> None:
        total = len(self.confirmed)
        start, size = 0, FEW_POINTERS
        while start < len(self.left):
            began = time.monotonic()
            pointers = self.left[start : start + size]
            self._batch(pointers, done=total - len(self.left) + start, total=total)
            start += len(pointers)
            size = max(1, size // 10) if time.monotonic() - began > SLOW_SECONDS else min(BATCH_POINTERS, size * 10)
        self._end(total)

    def _pointers(self, params: Mapping[str, Any]) -> Mapping[str, Collection[str]]:
        known = confirmed_digests(project=self.project, sessions=params["sessions"])
        pointer = params.get("pointer")
        return {pointer: known.get(pointer, ())} if pointer else known

    def _left(self, cursor: Mapping[str, Any]) -> list[str]:
        """What this run looks at: what failed in the last one, or what lies behind the last committed pointer."""
        pointers = list(self.confirmed)
        if self.tries and "after" not in cursor:
            again, self.failed = set(self.failed), []
            return [pointer for pointer in pointers if pointer in again]
        after = str(cursor.get("after", ""))
        return pointers[pointers.index(after) + 1 :] if after in self.confirmed else pointers

    def _batch(self, pointers: Sequence[str], *, done: int, total: int) -> None:
        checked = sources_check(project=self.project, pointers=pointers, run=self.round, confirmed=self.confirmed)
        self._count(checked)
        cursor = {**self._cursor(), "after": pointers[-1]}
        with self.run.commit(stage="verifying", unit="sources", done=done + len(pointers), total=total, cursor=cursor):
            self._append(checked)

    def _append(self, checked: Checked) -> None:
        resolutions_append(
            project=self.project,
            resolutions=checked.resolutions,
            actor=self.run.job.params["actor"],
            run=self.round,
            started_at=checked.started_at,
            finished_at=checked.finished_at,
        )

    def _count(self, checked: Checked) -> None:
        self.sums.update(checked.statuses)
        self.sums.update(changed=len(checked.changed), alarms=checked.alarms)
        self.failed += [failure.pointer for failure in checked.failures]
        self.causes.update(_cause(failure) for failure in checked.failures)

    def _cursor(self) -> dict[str, Any]:
        return {"sums": dict(self.sums), "tries": self.tries, "failed": self.failed, "round": self.round.rpartition("-")[2]}

    def _end(self, total: int) -> None:
        if not self.failed:
            self.run.end("succeeded", done=total, total=total, error=None, result=self._result())
            return
        self.tries += 1
        error = {"code": "sources_unread", "message": self._failure()}
        if self.tries < TRIES:
            later = timezone.now() + timedelta(seconds=AGAIN_SECONDS)
            self.run.end("queued", error=error, cursor=self._cursor(), run_after=later, fruitless=0)
        else:
            self.run.end("failed", error=error, result=self._result())

    def _result(self) -> dict[str, Any]:
        return {"run": self.round, "unread": len(self.failed), **self.sums}

    def _failure(self) -> str:
        causes = ", ".join(cause for cause, _ in self.causes.most_common(NAMED_CAUSES))
        return (
            f"{len(self.failed):,} sources could not be looked at ({causes}): this says nothing about them, and they are tried "
            f"{TRIES} times. See whether their folder, store or repository answers, then verify again."
        )


def _cause(failure: Failure) -> str:
    return failure.error.cause


def _round_of(run: JobRun) -> str:
    """A job is opened again under its id, so its rounds are told apart by the attempt that began them."""
    return str(run.job.attempt)


def _open(*, key: Sequence[object], name: str, actor: str, what: Mapping[str, Any]) -> Job:
    digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()
    with transaction.atomic():
        job = job_open(kind=KIND, key=digest, params={"name": name, "actor": actor, **what})
        job_ring(job=job)
    return job


def _parts(project: Project) -> list[list[str]]:
    """The project's sessions in their order, cut where a part has enough pointers."""
    rows = DurableItem.objects.filter(project=project).exclude(pointer="").values_list("session").annotate(Count("pk")).order_by("session")
    parts: list[list[str]] = []
    room = 0
    for session, count in rows:
        if room <= 0:
            parts.append([])
            room = PART_POINTERS
        parts[-1].append(session)
        room -= count
    return parts


def _is_due(project: Project, now: datetime) -> bool:
    """Whether the last round is over and old enough. The parts that it had share its time."""
    jobs = Job.objects.filter(kind=KIND, params__scope="project", params__project=project.pk)
    if jobs.exclude(state__in=FINAL).exists():
        return False
    opened = [job.params["opened_at"] for job in jobs]
    return not opened or datetime.fromisoformat(max(opened)) + timedelta(minutes=project.verify_minutes or 0) <= now
