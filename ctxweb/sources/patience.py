"""A look at a folder that somebody else serves may hang in the system for ever. It is waited for, but not for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from compaction.errors import SourceSystemError
from compaction.sources.base import Bounds, Found, Scheme
from compaction.sources.pointers import SourcePointer

LONGEST_LOOK_SECONDS = 60.0  # above the deadline of the bounds, which ends what still moves
MOST_THREADS = 2

_free = threading.BoundedSemaphore(MOST_THREADS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """A scheme whose looks run in a thread. One that hangs keeps its thread; when all are kept, looks are refused at once."""

    scheme: Scheme
    seconds: float = LONGEST_LOOK_SECONDS

    @property
    def name(self) -> str:
        return self.scheme.name

    def parse(self, raw: str) -> SourcePointer:
        return self.scheme.parse(raw)

    def find(self, session_id: str, pointers: Sequence[SourcePointer], bounds: Bounds) -> list[Found]:
        """What the scheme finds. Raises SourceSystemError `deadline`."""
        return waited_for(lambda: self.scheme.find(session_id, pointers, bounds), seconds=self.seconds)


def waited_for(look: Callable[[], list[Found]], *, seconds: float) -> list[Found]:
    """What `look` returns or raises. Raises SourceSystemError `deadline` where it does neither in `seconds`."""
    if not _free.acquire(timeout=seconds):
        raise SourceSystemError("every look at a source hangs: its file system does not answer", cause="deadline")
    ended: list[list[Found] | BaseException] = []
    thread = threading.Thread(target=_run, args=(look, ended), daemon=True, name="source-look")
    thread.start()
    thread.join(seconds)
    if not ended:
        raise SourceSystemError(f"a look at a source did not end in {seconds:g} s: try again", cause="deadline")
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
