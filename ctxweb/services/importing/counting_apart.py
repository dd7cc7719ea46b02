"""The counting stage in a process of its own: a tokenizer takes about 60 MB, and so do the structures of a long session."""

from __future__ import annotations

import subprocess
import sys
import time

from django.conf import settings

from ctxweb.jobs import JobCancelled, JobLost, JobRun, JobStop, SliceOver
from ctxweb.services.importing.errors import ImportInterrupted

LOST = 11
EXITS: dict[int, type[JobStop]] = {10: JobCancelled, LOST: JobLost, 12: SliceOver}
"""With which status the other process says what stopped it."""


def bodies_count_apart(*, run: JobRun, digests: set[bytes], encoding: str) -> None:
    """What `bodies_count` does, without the tokenizer in this process; raises what stopped the other one."""
    left = 0.0 if run.deadline is None else max(1.0, run.deadline - time.monotonic())
    command = [sys.executable, "-m", "ctxweb.services.importing.count_process", str(run.job.pk), str(run.job.attempt), str(left), encoding]
    ended = subprocess.run(command, input=b"".join(digests), cwd=settings.BASE_DIR, stdout=subprocess.DEVNULL, check=False)
    if ended.returncode in EXITS:
        raise EXITS[ended.returncode]
    if ended.returncode:
        message = f"The process that counts tokens ended with status {ended.returncode}: see the log, and start the import again."
        raise ImportInterrupted("counting_failed", message)
    run.check()
