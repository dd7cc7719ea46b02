"""A look at a folder that somebody else serves may hang in the system for ever. It is waited for, but not for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from compaction.errors import SourceSystemError
from compaction.sources.base import Bounds, Found, Scheme
from compaction.sources.pointers import SourcePointer

MOST_QUIET_SECONDS = 20.0  # what still moves is ended by the deadline of the bounds
LOOK_SECONDS = 1.0  # between two looks at a look
MOST_THREADS = 2

_free = threading.BoundedSemaphore(MOST_THREADS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """A scheme whose looks run in a thread. One that hangs keeps its thread; when all are kept, looks are refused at once."""

    scheme: Scheme
    seconds: float = MOST_QUIET_SECONDS

    @property
    def name(self) -> str:
        return self.scheme.name

    def parse(self, raw: str) -> SourcePointer:
        return self.scheme.parse(raw)

    def find(self, session_id: str, pointers: Sequence[SourcePointer], bounds: Bounds) -> list[Found]:
        """What the scheme finds. Raises SourceSystemError `deadline`."""
        bounds.start()
        return waited_for(lambda: self.scheme.find(session_id, pointers, bounds), bounds=bounds, seconds=self.seconds)


def waited_for(look: Callable[[], list[Found]], *, bounds: Bounds, seconds: float) -> list[Found]:
    """What `look` returns or raises. Raises SourceSystemError `deadline` where nothing was read for so many seconds."""
    if not _free.acquire(timeout=seconds):
        raise SourceSystemError("every look at a source hangs: its file system does not answer", cause="deadline")
    ended: list[list[Found] | BaseException] = []
    thread = threading.Thread(target=_run, args=(look, ended), daemon=True, name="source-look")
    thread.start()
    while not ended:
        thread.join(min(seconds, LOOK_SECONDS))
        if not ended and bounds.quiet_seconds > seconds:
            raise SourceSystemError(f"nothing of a source was read for {seconds:g} s: try again", cause="deadline")
    if isinstance(ended[0], BaseException):
        raise ended[0]
    return ended[0]


def _run(look: Callable[[], list[Found]], ended: list[list[Found] | BaseException]) -> None:
    try:
        ended.append(look())
    except BaseException as error:  # it is raised where it is waited for
        ended.append(error)
    finally:
        _free.release()
