"""What a scheme is, and the bounds of a look: how much is read, how long, and how much is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from compaction.errors import DurableError, SourceSystemError
from compaction.sources.pointers import SourcePointer
from compaction.sources.resolution import Finding

EXCERPT_CHARS = 2_000
MOST_SOURCE_BYTES = 4 * 1024**3

Found = Finding | SourceSystemError
"""What came of one pointer; the error where the machine could not look."""


class Grammar(Protocol):
    """The part of a scheme that needs no configuration: its name and how its pointers are written."""

    @property
    def name(self) -> str:
        """The text before the first colon, compared exactly."""

    def parse(self, raw: str) -> SourcePointer:
        """The pointer. Raises SourcePointerError; `raw` has this scheme's name and no white space."""


class Scheme(Grammar, Protocol):
    """A scheme with its roots: it looks pointers up that were parsed and authorised."""

    def find(self, session_id: str, pointers: Sequence[SourcePointer], bounds: Bounds) -> list[Found]:
        """What is behind the pointers, all of one session, in their order. May raise SourceSystemError for all of them."""


@dataclass(slots=True, kw_only=True)
class Bounds:
    """How far a run may go. `excerpts` is False where nobody will read any: a record table then makes none. `seconds` are for
    one pointer, or for the pointers of one transcript, by the clock that the caller gives; `bytes_left` is for the whole run and
    falls as it reads. None: no bound."""

    excerpt_chars: int = EXCERPT_CHARS
    excerpts: bool = True
    most_source_bytes: int = MOST_SOURCE_BYTES
    bytes_left: int | None = None
    seconds: float | None = None
    clock: Callable[[], float] | None = None
    _started: float = field(default=0.0, repr=False)
    _heard: float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        checked_excerpt_chars(self.excerpt_chars)

    def start(self) -> None:
        """The time of the next pointer begins."""
        if self.clock is not None:
            self._started = self._heard = self.clock()

    @property
    def quiet_seconds(self) -> float:
        """How long nothing was begun or read; 0 without a clock."""
        return self.clock() - self._heard if self.clock is not None else 0.0

    def spend(self, count: int) -> None:
        """`count` bytes were read. Raises SourceSystemError `byte_budget`, `deadline`."""
        if self.bytes_left is not None:
            self.bytes_left -= count
            if self.bytes_left < 0:
                raise SourceSystemError("the byte budget of this run is used up: go on in another run", cause="byte_budget")
        if self.clock is None:
            return
        self._heard = self.clock()
        if self.seconds is not None and self._heard - self._started > self.seconds:
            raise SourceSystemError(f"a source was not read in {self.seconds:g} s: try again", cause="deadline")


def checked_excerpt_chars(given: object) -> int:
    """A positive integer; a boolean is none. Raises DurableError `max_excerpt_chars_invalid`."""
    if type(given) is not int or given < 1:
        raise DurableError("max_excerpt_chars is not a positive integer", code="max_excerpt_chars_invalid")
    return given
