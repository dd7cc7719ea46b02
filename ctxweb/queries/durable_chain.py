"""Whether the versions of durable states are what was written: each digest is that of its state, and none is missing.

A version that its own table no longer proves may still be proved by what somebody exported: the audit chain does not cover it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from ctxweb.models import DurableVersion

MOST_BREAKS = 100
ROWS_AT_ONCE = 50  # a state may be large


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionBreak:
    """A version that does not hold: which session's, its number, and why."""

    session: str
    number: int
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionsState:
    """The versions of a project; `breaks` are the first that do not hold."""

    count: int
    breaks: tuple[VersionBreak, ...]

    @property
    def holds(self) -> bool:
        return not self.breaks


def versions_state(*, project_id: str) -> VersionsState:
    """Check all versions of a project: one pass."""
    rows = DurableVersion.objects.filter(project_id=project_id).order_by("session", "number")
    breaks: list[VersionBreak] = []
    count, at, last = 0, "", 0
    for session, number, parent, state, sha256 in rows.values_list("session", "number", "parent", "state", "sha256").iterator(ROWS_AT_ONCE):
        before = last if session == at else 0
        says = _wrong(number, parent, before, state, sha256)
        if says and len(breaks) < MOST_BREAKS:
            breaks.append(VersionBreak(session=session, number=number, says=says))
        count, at, last = count + 1, session, number
    return VersionsState(count=count, breaks=tuple(breaks))


def _wrong(number: int, parent: int | None, before: int, state: str, sha256: str) -> str:
    if hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest() != sha256:
        return "its state is not the one that its digest is of"
    if number != before + 1:
        return f"{number - before - 1:,} versions before it are gone" if number > before else "its number stands twice"
    if parent != (before or None):
        return "it says that it grew out of another version than the one before it"
    return ""
