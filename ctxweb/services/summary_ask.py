"""Asking a model while its job stays answerable: the call runs on a thread of its own, which touches no row."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from ctxweb.jobs import JobCancelled
from ctxweb.models import Job

LOOK_SECONDS = 0.5  # between two looks at whether somebody wants the job to end
GRACE_SECONDS = 1.0  # that a cancelled call has to end by itself

T = TypeVar("T")


def ask_apart(*, job: Job, ask: Callable[[Callable[[], bool]], T]) -> T:
    """What `ask` returns or raises. It is handed `is_cancelled`, which turns true once the end of the job is asked for; then, a
    moment later, JobCancelled is raised, whether or not it has come back."""
    is_cancelled, came, failed = threading.Event(), list[T](), list[BaseException]()

    def run() -> None:
        try:
            came.append(ask(is_cancelled.is_set))
        except BaseException as error:  # handed on to the thread that waits
            failed.append(error)

    thread = threading.Thread(target=run, name=f"summary {job.public_id}", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(LOOK_SECONDS)
        if thread.is_alive() and Job.objects.filter(pk=job.pk, cancel_requested=True).exists():
            is_cancelled.set()
            thread.join(GRACE_SECONDS)
            break
    if failed:
        raise failed[0]
    if came:
        return came[0]
    raise JobCancelled
