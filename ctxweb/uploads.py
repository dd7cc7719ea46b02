"""What an upload leads to: the sessions, if they are there within two seconds, else the job that will bring them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import BinaryIO

from ctxweb.jobs import job_ended
from ctxweb.models import Job
from ctxweb.queries.imports import import_error, import_status, imported_sessions
from ctxweb.services.session_import import import_enqueue

READY_SECONDS = 2.0  # docs/importing.md: an upload that takes longer is answered with its job
LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Uploaded:
    """`status` is `imported`, `updated`, `unchanged`, `failed` or, while the job runs, `running`; `sessions` are public ids."""

    job: Job
    status: str
    sessions: tuple[str, ...]
    error: dict[str, str] | None


def uploaded(*, name: str, stream: BinaryIO, wait: bool = True) -> Uploaded:
    """Keep the bytes, leave their import to the workers, and look for its end if `wait`. Raises StorageError."""
    job = import_enqueue(name=name, stream=stream)
    deadline = time.monotonic() + (READY_SECONDS if wait else 0.0)
    while not (ended := job_ended(job=job)) and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
    if not ended:
        return Uploaded(job=job, status="running", sessions=(), error=None)
    error = import_error(job=job)
    status = "failed" if error else import_status(job=job)
    return Uploaded(job=job, status=status, sessions=imported_sessions(job=job), error=error)
