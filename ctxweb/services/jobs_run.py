"""Running jobs: claim, work, and what follows from how a run ends."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.utils import timezone

from ctxweb.jobs import JobCancelled, JobLost, JobRun, SliceOver, job_claim, job_ring, jobs_running, jobs_waiting
from ctxweb.models import Job, Source
from ctxweb.services.audit import anchors_sweep
from ctxweb.services.checkpoint_summarize import summary_work
from ctxweb.services.folder_import import folder_import
from ctxweb.services.history_replay import replay_work
from ctxweb.services.importing.errors import ImportInterrupted, ImportRefused
from ctxweb.services.importing.import_run import blob_release, import_run
from ctxweb.services.importing.removing import source_remove
from ctxweb.services.source_jobs import verify_work
from ctxweb.services.summary_calls import calls_sweep
from ctxweb.storage import StorageError, leftovers_remove

SLICE_SECONDS = 50  # a long job is a chain of tasks of under a minute
RETRY_SECONDS = 30
SWEEP_BATCH = 20
WORK: dict[str, Callable[[JobRun], None]] = {
    "import": import_run,
    "folder": folder_import,
    "replay": replay_work,
    "verify": verify_work,
    "summary": summary_work,
}
LIMIT_OF_KIND = {"summary": "CTXWEB_CONCURRENT_SUMMARIES"}  # the other kinds have that of imports, each for itself
_RETRIED_STORAGE = ("disk_full", "unwritable")
_log = logging.getLogger(__name__)


def job_run(*, job_id: int) -> None:
    """One slice of a job, in a worker. A job that is missing, over or at work elsewhere is left alone."""
    job = Job.objects.filter(pk=job_id).first()
    if job is None:
        _log.info("job %s is not there any more", job_id)
        return
    if jobs_running(kind=job.kind) >= getattr(settings, LIMIT_OF_KIND.get(job.kind, "CTXWEB_CONCURRENT_IMPORTS")):
        return  # the end of one of these, or the sweep, rings for it
    if job.run_after is not None and job.run_after > timezone.now():
        return  # it waits for a reason: the sweep rings when it is due
    claimed = job_claim(job_id=job_id)
    if claimed is not None:
        claimed_run(job=claimed, deadline=time.monotonic() + SLICE_SECONDS)
        _ring_next(claimed.kind)


def jobs_sweep() -> None:
    """Ring for the jobs that nobody works on, remove what dead writers left, write the anchors of the audit that are due, and
    count model calls as lost that no run waits for any more."""
    leftovers_remove()
    anchors_sweep()
    calls_sweep()
    for kind in WORK:
        for job_id in jobs_waiting(kind=kind, limit=SWEEP_BATCH):
            job_ring(job=Job(pk=job_id))


def claimed_run(*, job: Job, deadline: float | None = None, progress: Callable[[Job], None] | None = None) -> None:
    """Work on a claimed job until it ends, its slice is over, or it cannot go on now."""
    run = JobRun(job, deadline, progress)
    try:
        with _durable():
            WORK[job.kind](run)
    except SliceOver:
        run.end("queued")
        job_ring(job=job)
    except JobCancelled:
        _discard(run)
        run.end("cancelled")
    except JobLost as error:
        _log.warning("%s", error)
    except ImportRefused as error:
        _discard(run)
        run.end("failed", error=_error(error.code, error))
    except ImportInterrupted as error:
        run.end("queued", error=_error(error.code, error), run_after=None)
    except StorageError as error:
        _storage_failed(run, error)
    except (DatabaseError, InterfaceError) as error:
        _database_failed(run, error)
    except Exception as error:
        _log.error("job %s failed: %s at %s", job.public_id, type(error).__name__, _place(error))
        run.end("failed", error=_own_error(error))


@contextmanager
def _durable() -> Iterator[None]:
    """On SQLite, have every commit of this connection synced to the disk, for the time of an import."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous=FULL")
    try:
        yield
    finally:
        if connection.connection is not None and not connection.in_atomic_block:
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA synchronous=NORMAL")


def _discard(run: JobRun) -> None:
    """Nothing half imported stays: unfinished sources of the job's file go, and its bytes if no source needs them."""
    if "sha256" not in run.job.params:
        return  # a folder's job keeps no bytes of its own
    sha256 = str(run.job.params["sha256"])
    for source in Source.objects.filter(sha256=sha256).exclude(state=Source.State.READY):
        source_remove(source=source, commit=transaction.atomic)
    blob_release(sha256=sha256)


def _storage_failed(run: JobRun, error: StorageError) -> None:
    if error.code in _RETRIED_STORAGE:
        run.end("queued", error=_error(error.code, error), run_after=timezone.now() + timedelta(seconds=RETRY_SECONDS))
        return
    run.end("failed", error=_error(error.code, error))


def _database_failed(run: JobRun, error: Exception) -> None:
    """The row may be out of reach too: then its lease lapses, and the sweep finds the job."""
    full = "full" in str(error)
    code = "disk_full" if full else "database_unavailable"
    message = "No space is left for the database: free some." if full else "The database cannot be reached or is busy for too long."
    try:
        run.end("queued", error={"code": code, "message": f"{message} The import goes on from where it is."},
                run_after=timezone.now() + timedelta(seconds=RETRY_SECONDS))  # fmt: skip
    except (DatabaseError, InterfaceError):
        _log.error("job %s stops (%s, %s); it goes on when its lease has ended", run.job.public_id, code, type(error).__name__)


def _ring_next(kind: str) -> None:
    for job_id in jobs_waiting(kind=kind, limit=1):
        job_ring(job=Job(pk=job_id))


def _error(code: str, error: Exception) -> dict[str, str]:
    return {"code": code, "message": str(error)}


def _place(error: Exception) -> str:
    """File and line of an error: its own message might hold text of a transcript."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"


def _own_error(error: Exception) -> dict[str, str]:
    what = f"The job met an error of its own ({type(error).__name__} at {_place(error)})."
    return {"code": "internal", "message": f"{what} The bytes of its source are kept: report this, and start it again after an update."}
