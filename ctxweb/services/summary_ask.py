"""Asking a model while its job stays answerable: the call runs on a thread of its own, which touches no row."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from django.db.models import F

from ctxweb.jobs import JobCancelled
from ctxweb.models import Job

LOOK_SECONDS = 0.5  # between two looks at whether somebody wants the job to end
GRACE_SECONDS = 1.0  # that a cancelled call has to end by itself

T = TypeVar("T")


class Call:
    """What the thread that asks and the one that waits know of each other. `chars` of the answer have come."""

    def __init__(self) -> None:
        self.chars = 0
        self._cancelled = threading.Event()

    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel(self) -> None:
        self._cancelled.set()

    def on_text(self, chars: int) -> None:
        self.chars = chars


def ask_apart(*, job: Job, ask: Callable[[Call], T]) -> T:
    """What `ask` returns or raises, while the job's row tells how much of it has come. Once the end of the job is asked for the call
    is cancelled, and a moment later JobCancelled is raised, whether or not it has come back."""
    call, came, failed = Call(), list[T](), list[BaseException]()

    def run() -> None:
        try:
            came.append(ask(call))
        except BaseException as error:  # handed on to the thread that waits
            failed.append(error)

    thread = threading.Thread(target=run, name=f"summary {job.public_id}", daemon=True)
    thread.start()
    told = 0
    while thread.is_alive():
        thread.join(LOOK_SECONDS)
        if thread.is_alive() and Job.objects.filter(pk=job.pk, cancel_requested=True).exists():
            call.cancel()
            thread.join(GRACE_SECONDS)
            break
        if call.chars != told:
            told = call.chars
            _tell(job, told)
    if failed:
        raise failed[0]
    if came:
        return came[0]
    raise JobCancelled


def _tell(job: Job, chars: int) -> None:
    """How far the answer has come; nothing where the job is another run's by now."""
    own = Job.objects.filter(pk=job.pk, state=Job.State.LEASED, attempt=job.attempt)
    own.update(done=chars, unit="characters", version=F("version") + 1)
