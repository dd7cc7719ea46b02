"""Where the copied prefix of a forked or subagent rollout ends: its records belong to the parent.

The recorded boundary (`subagent_history_start_ordinal`) is trusted first. A fork without one writes its prefix in one burst when it
is created, with new times, so the prefix is what was written within a second of the head of the file. A turn that only begins in
that burst is the fork's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

BURST_MS = 1_000


@dataclass(slots=True)
class Prefix:
    """Watches the records of a source and tells how many from the first on are inherited.

    `start_ordinal` and `is_fork` come from the head; without either nothing is inherited.
    """

    start_ordinal: int | None = None
    is_fork: bool = False
    head_ms: int | None = None
    until: int = 0
    _in_burst: bool = True
    _turn_start: int | None = field(default=None)

    def watch(self, record: int, ordinal: int | None, at: int | None, *, starts_turn: bool, by_model: bool) -> None:
        """Look at the next record; `until` is then the last inherited record number so far."""
        if self.start_ordinal is not None:
            if ordinal is not None and ordinal < self.start_ordinal:
                self.until = record
            return
        if not self.is_fork or not self._in_burst:
            return
        self._in_burst = at is None or self.head_ms is None or at <= self.head_ms + BURST_MS
        if not self._in_burst:
            self.until = self.until if self._turn_start is None else self._turn_start - 1
            return
        self.until = record
        if starts_turn and self._turn_start is None:
            self._turn_start = record
        elif by_model:
            self._turn_start = None
