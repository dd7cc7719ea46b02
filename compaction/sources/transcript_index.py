"""Where the lines of transcripts begin that were verified, so that a transcript which has not changed is not read again.

An entry holds for one state of a file: its place, size and times. The line that is asked for is always read and hashed
anew; what is not read again is what stands before it.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from compaction.sources.resolution import Finding

State = tuple[int, ...]


@dataclass(slots=True, kw_only=True)
class Verified:
    """The beginning of one file. `ends[n]` is the offset behind its n-th verified line, `ends[0]` is 0. `rest` is the finding for
    every line behind these, if it is known: they are missing, or one of them is bad."""

    state: State
    ends: array[int] = field(default_factory=lambda: array("Q", [0]))
    rest: Finding | None = None

    @property
    def count(self) -> int:
        return len(self.ends) - 1

    def place(self, number: int) -> tuple[int, int]:
        """Offset and length of a verified line, from 1, with its line end."""
        return self.ends[number - 1], self.ends[number] - self.ends[number - 1]


@dataclass(slots=True)
class TranscriptIndex:
    """The verified beginnings by session, for a caller that looks often: 8 bytes a line. The oldest leave above `most_sessions`."""

    most_sessions: int = 1_000
    _known: dict[str, Verified] = field(default_factory=dict)

    def verified(self, session_id: str, state: State) -> Verified:
        """What is known of this state of the file; nothing yet of another one."""
        known = self._known.pop(session_id, None)
        if known is None or known.state != state:
            known = Verified(state=state)
        self._known[session_id] = known
        while len(self._known) > self.most_sessions:
            del self._known[next(iter(self._known))]
        return known
