"""Importing in the foreground, and handing an import to the workers. Both are one job of the same table.

Bytes are stored first (fsynced, under their hash), then the job is opened with the hash as its key: the same bytes are
one job, however often and from wherever they are given.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.db import DatabaseError, InterfaceError, transaction

from ctxweb.jobs import FINAL, job_claim, job_open, job_ring
from ctxweb.models import Job, Source
from ctxweb.services.durable_import import durable_of_import
from ctxweb.services.importing.import_run import revisions_of
from ctxweb.services.importing.report import lane_object
from ctxweb.services.jobs_run import claimed_run
from ctxweb.storage import Blob, StorageError, blob_path, blob_write

WAIT_SECONDS = 0.1  # between two looks at a job that another process works on
RUNS = 5  # a foreground import that is overtaken by others tries again so often
Progress = Callable[[Job], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """What became of one given source. `outcomes` are those of `import_run`; `error` is None unless all of it failed.
    `durable_error` says why durable state inside it, or beside it, could not be imported."""

    name: str
    sha256: str | None
    outcomes: tuple[dict[str, Any], ...] = ()
    error: dict[str, str] | None = None
    durable_error: str | None = None

    @property
    def failed(self) -> bool:
        return self.error is not None or self.durable_error is not None or any(outcome["status"] == "failed" for outcome in self.outcomes)

    def objects(self) -> list[dict[str, Any]]:
        """One object a lane (docs/importing.md), with the figures as they are now: ask before a later import takes its place."""
        if self.error is not None:
            return [_failure(self.name, self.error)]
        told = [each for outcome in self.outcomes for each in self._objects_of(outcome)]
        return told + [_failure(self.name, {"code": "durable_refused", "message": error}) for error in [self.durable_error] if error]

    def _objects_of(self, outcome: dict[str, Any]) -> list[dict[str, Any]]:
        name = f"{self.name}!{outcome['member']}" if outcome["member"] else self.name
        if outcome["status"] == "failed":
            return [_failure(name, outcome["error"])]
        return [
            lane_object(revision_id=revision_id, name=name, sha256=self.sha256 or "", status=status)
            for revision_id, status in outcome["revisions"]
        ]


def session_import(
    *, name: str, path: Path | None = None, stream: BinaryIO | None = None, progress: Progress | None = None
) -> ImportResult:
    """Import a file, or a stream, in this process; never raises for what is wrong with the source or the machine.

    `progress` is called with the job's row after each of its changes that this process waits for or makes.
    """
    try:
        known = None if path is None else _known(path)
        beside = "" if path is None else str(path.absolute())
        if known is not None:
            durable = durable_of_import(sources=[known], beside=beside)
            return ImportResult(name=name, sha256=known.sha256, outcomes=(_unchanged(known),), durable_error=durable["error"])
        blob = _store(path, stream)
        job = import_open(name=name, sha256=blob.sha256, size=blob.size, beside=beside)
        return _result(name, blob.sha256, import_finish(job=job, path=path, progress=progress))
    except StorageError as error:
        return ImportResult(name=name, sha256=None, error={"code": error.code, "message": str(error)})
    except OSError as error:
        return ImportResult(name=name, sha256=None, error={"code": "unreadable", "message": f"{name} cannot be read ({error.strerror})."})
    except (DatabaseError, InterfaceError) as error:
        message = f"The database cannot be used ({type(error).__name__}). Nothing half imported can be seen; import again once it can."
        return ImportResult(name=name, sha256=None, error={"code": "database_unavailable", "message": message})


def import_enqueue(*, name: str, stream: BinaryIO, beside: str = "") -> Job:
    """Store an upload and leave its import to the workers. When this returns the bytes are on the disk. `beside` is the path
    of a file of this machine that they were read from: its durable state lies there. An upload never has one.

    Raises StorageError. The job of bytes that are known ends at once with the outcome `unchanged`.
    """
    blob = blob_write(stream=stream)
    with transaction.atomic():
        job = import_open(name=name, sha256=blob.sha256, size=blob.size, beside=beside)
        job_ring(job=job)
    return job


def import_open(*, name: str, sha256: str, size: int, beside: str = "") -> Job:
    """The one job of these stored bytes, queued if it was not yet or has ended."""
    params = {"name": name, "sha256": sha256, "size": size}
    return job_open(kind="import", key=_key(sha256), params=params | ({"beside": beside} if beside else {}))


def import_finish(*, job: Job, path: Path | None = None, progress: Progress | None = None) -> Job:
    """Work on the job until it has ended, or cannot go on now; where another process works on it, wait for that."""
    runs = 0
    while job.state not in FINAL and runs < RUNS:
        claimed = job_claim(job_id=job.pk)
        if claimed is None:
            time.sleep(WAIT_SECONDS)
        else:
            runs += 1
            if path is not None and not blob_path(claimed.params["sha256"]).exists():
                _store(path, None)  # an import that ended in the meantime has cleaned up
            claimed_run(job=claimed, progress=progress)
        job.refresh_from_db()
        if progress is not None:
            progress(job)
        if claimed is not None and job.error is not None and job.error["code"] != "overtaken":
            break
    return job


def _known(path: Path) -> Source | None:
    """The source with the same bytes, if it is imported; costs one read of the file and no copy."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if Job.objects.filter(key=_key(sha256)).exclude(state__in=FINAL).exists():
        return None  # an import that was killed may have something to clean up
    sources = Source.objects.filter(sha256=sha256)
    return sources.get() if sources.count() == 1 and sources.filter(member="", state=Source.State.READY).exists() else None


def _key(sha256: str) -> str:
    return hashlib.sha256(f"import\0{sha256}".encode()).hexdigest()


def _unchanged(source: Source) -> dict[str, Any]:
    return {"member": "", "status": "unchanged", "revisions": revisions_of(source=source)}


def _store(path: Path | None, stream: BinaryIO | None) -> Blob:
    if path is None:
        if stream is None:
            raise ValueError("give a path or a stream")
        return blob_write(stream=stream)
    with path.open("rb") as file:
        return blob_write(stream=file)


def _result(name: str, sha256: str, job: Job) -> ImportResult:
    if job.state == Job.State.SUCCEEDED:
        result = job.result or {}
        durable_error = (result.get("durable") or {}).get("error")
        return ImportResult(name=name, sha256=sha256, outcomes=tuple(result.get("outcomes", ())), durable_error=durable_error)
    error = job.error or {"code": str(job.state), "message": f"The import was {job.state}; nothing of it stays."}
    return ImportResult(name=name, sha256=sha256, error=error)


def _failure(name: str, error: dict[str, str]) -> dict[str, Any]:
    return {"source": name, "status": "failed", "error": error}
