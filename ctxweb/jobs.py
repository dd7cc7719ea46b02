"""The job table: opening, claiming, going on, ending. The row is the truth; Celery only rings the bell.

A job runs under a lease. Every change of its row is a compare-and-swap on (state, attempt), so that a worker which
lost its lease can change nothing: not the row, and not what it wanted to commit together with it (`JobRun.commit`).
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from ctxweb.models import Job

LEASE_SECONDS = 240  # above Celery's time limit of 180: a task that was killed cannot still be running
FRUITLESS_RUNS = 3  # a job that was started so often without one committed batch is poison
LOG_LINES = 50
FINAL = (Job.State.SUCCEEDED, Job.State.FAILED, Job.State.CANCELLED, Job.State.ABANDONED)
ABANDONED_ERROR = {
    "code": "abandoned",
    "message": f"The job was started {FRUITLESS_RUNS} times and ended each time before it got any further. Its source is kept: "
    "see the worker's log, then start it again.",
}
_log = logging.getLogger(__name__)


class JobStop(Exception):
    """A run of a job ends here, after a committed batch; nothing is wrong with the job."""


class JobLost(JobStop):
    """Another worker has the job, or it has ended: this run's last batch was not committed."""


class JobCancelled(JobStop):
    """A person asked for the job to end."""


class SliceOver(JobStop):
    """The time of this run is over; the job goes on from its committed offset in the next one."""


def job_open(*, kind: str, key: str, params: dict[str, Any]) -> Job:
    """The job of this key, made or, where an earlier run of it has ended, queued again."""
    job, made = Job.objects.get_or_create(key=key, defaults={"public_id": secrets.token_hex(10), "kind": kind, "params": params})
    if not made and job.state in FINAL:
        _swap(job, state=Job.State.QUEUED, params=params, stage="", cursor={}, fruitless=0, done=0, total=None, error=None, result=None,
              cancel_requested=False, worker="", lease_until=None, started_at=None, ended_at=None)  # fmt: skip
        job.refresh_from_db()
    return job


def job_ring(*, job: Job) -> None:
    """Tell the workers of a queued job once the transaction is committed. The sweep finds it if nobody hears."""
    transaction.on_commit(lambda: _send(job.pk))


def job_claim(*, job_id: int) -> Job | None:
    """Lease a queued or lapsed job to this process, or None when it runs elsewhere, has ended or is poison."""
    job = Job.objects.filter(pk=job_id).first()
    if job is None or job.state in FINAL or not _free(job):
        return None
    if job.cancel_requested:
        _swap(job, state=Job.State.CANCELLED, ended_at=timezone.now())
        return None
    if job.fruitless >= FRUITLESS_RUNS:
        _swap(job, state=Job.State.ABANDONED, error=ABANDONED_ERROR, ended_at=timezone.now())
        return None
    claimed = _swap(job, state=Job.State.LEASED, attempt=job.attempt + 1, fruitless=job.fruitless + 1, worker=_worker(),
                    lease_until=_lease_end(), started_at=job.started_at or timezone.now())  # fmt: skip
    if not claimed:
        return None
    job.refresh_from_db()
    return job


def job_cancel(*, job: Job) -> None:
    """Ask for the end of a job. A queued one ends at once, a running one after its current batch."""
    Job.objects.filter(pk=job.pk).exclude(state__in=FINAL).update(cancel_requested=True, version=F("version") + 1)
    Job.objects.filter(pk=job.pk, state=Job.State.QUEUED).update(
        state=Job.State.CANCELLED, ended_at=timezone.now(), version=F("version") + 1
    )


def job_ended(*, job: Job) -> bool:
    """Whether the job has come to its end, read anew from the table."""
    job.refresh_from_db()
    return job.state in FINAL


def jobs_waiting(*, kind: str, limit: int) -> list[int]:
    """Ids of up to `limit` jobs of a kind that could run now, oldest first: queued ones, and those whose lease lapsed."""
    now = timezone.now()
    due = Q(state=Job.State.QUEUED) & (Q(run_after__isnull=True) | Q(run_after__lte=now))
    rows = Job.objects.filter(due | Q(state=Job.State.LEASED), kind=kind).order_by("pk")
    return [job.pk for job in rows if _free(job)][:limit]


def jobs_running(*, kind: str) -> int:
    """How many jobs of a kind are at work now."""
    return sum(not _free(job) for job in Job.objects.filter(kind=kind, state=Job.State.LEASED))


@dataclass(slots=True)
class JobRun:
    """One run of a claimed job: commits batches together with the job's progress.

    `deadline` is the monotonic time after which the run hands over to the next one; None in the foreground, where
    `progress` is told of each committed batch.
    """

    job: Job
    deadline: float | None = None
    progress: Callable[[Job], None] | None = None
    _attempt: int = field(init=False)
    _has_progress: bool = False

    def __post_init__(self) -> None:
        self._attempt = self.job.attempt

    @contextlib.contextmanager
    def commit(self, *, is_progress: bool = True, **progress: Any) -> Iterator[None]:
        """Commit the block's writes and the progress (`stage unit done total cursor`) in one transaction; renew the lease.

        `is_progress` is False for notes that every run makes again. Raises JobLost (and rolls the block's writes back) when
        the job is no longer this run's; after the commit JobCancelled when its end was asked for, SliceOver when the time
        is over.
        """
        with transaction.atomic():
            yield
            fruitless = 0 if is_progress else self.job.fruitless
            self._write(fruitless=fruitless, lease_until=_lease_end(), **progress)
        self._has_progress = self._has_progress or is_progress
        if self.progress is not None:
            self.progress(self.job)
        self.check()

    def check(self) -> None:
        """Raise JobCancelled or SliceOver between two batches. A run that got no further yet is not over: it would begin alike again."""
        if Job.objects.filter(pk=self.job.pk, cancel_requested=True).exists():
            raise JobCancelled
        if self._has_progress and self.deadline is not None and time.monotonic() > self.deadline:
            raise SliceOver

    def end(self, state: Literal["succeeded", "failed", "cancelled", "queued"], **changes: Any) -> None:
        """Give the job its last state, or put it back into the queue; within the caller's transaction, if there is one."""
        ended_at = None if state == "queued" else timezone.now()
        self._write(state=state, lease_until=None, worker="", ended_at=ended_at, **changes)

    def note(self, line: str) -> None:
        """Add a line for people to the job's log."""
        self._write(log=[*self.job.log, {"at": timezone.now().isoformat(), "line": line}][-LOG_LINES:])

    def _write(self, **changes: Any) -> None:
        if not _swap(self.job, **changes):
            raise JobLost(f"job {self.job.public_id} is no longer at attempt {self._attempt}")
        for name, value in changes.items():
            setattr(self.job, name, value)


def _swap(job: Job, **changes: Any) -> bool:
    """Change the row if it still is in the state and attempt that `job` was read with."""
    rows = Job.objects.filter(pk=job.pk, state=job.state, attempt=job.attempt)
    return rows.update(**changes, version=F("version") + 1) == 1


def _free(job: Job) -> bool:
    """Whether nobody works on the job: it is queued, its lease ran out, or its worker on this machine has died."""
    if job.state != Job.State.LEASED:
        return True
    if job.lease_until is None or job.lease_until < timezone.now():
        return True
    return job.worker.startswith(f"{socket.gethostname()}/") and not _alive(job.worker)


def _worker() -> str:
    return f"{socket.gethostname()}/{os.getpid()}/{_started(os.getpid())}"


def _alive(worker: str) -> bool:
    """Whether the process of a worker name `host/pid/start` of this machine still runs."""
    _, pid, started = worker.rsplit("/", 2)
    return _started(int(pid)) == started


def _started(pid: int) -> str:
    """When a process started, in clock ticks since boot: tells a process from a later one with its number."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[19]
    except (FileNotFoundError, ProcessLookupError):
        return "gone"


def _lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=LEASE_SECONDS)


def _send(job_id: int) -> None:
    from ctxweb import tasks  # a task calls the services, which use this module

    try:
        tasks.job_run.delay(job_id)
    except Exception as error:  # whatever the broker's client raises: the sweep rings again
        _log.warning("job %s: the broker was not reached (%s); the next sweep starts it", job_id, type(error).__name__)
