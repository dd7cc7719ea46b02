"""The watch of a page that is open: its sources are looked at every second, and what changed is told.

Each look compares a cheap mark of each source, and reads only those whose mark differs. What is found is written to the audit
only where it differs from the last entry. The state is that of this process: all readers of a session share one look a second.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.utils import timezone

from compaction.sources.resolution import SourceResolution
from ctxweb.models import Project
from ctxweb.services.audit import resolutions_append
from ctxweb.services.source_verify import Checked, confirmed_digests, is_changed, sources_check
from ctxweb.sources.base import CHANGING
from ctxweb.sources.resolving import project_resolver

WATCH_SECONDS = 1.0
ACTOR = "watch"
LOOK_SECONDS = 0.5  # of one look; what is left is looked at in the next one
POINTERS_AT_ONCE = 100
MOST_WATCHES = 64  # sessions whose state is kept in this process
KEY_DIGITS = 16
WORST_FIRST = ("corrupt", "missing", "denied", "unsupported")
_ROUNDING = 0.05  # a reader that comes just before its second is served all the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """The state of one source. `key` names its elements on a page; `status` is empty while nobody could look, and `trouble`
    says why, in a short word. `is_changed`: available, but not as it was when it was confirmed. `since` is when it was first
    found like this by this watch."""

    key: str
    pointer: str
    status: str
    reason: str
    is_changed: bool
    trouble: str
    since: datetime

    @property
    def reason_words(self) -> str:
        return self.reason.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The worst status of a session's sources, and how many have it; an empty one where all are available."""

    status: str = ""
    count: int = 0


def badge_key(pointer: str) -> str:
    """What a page calls the elements of a pointer: letters and digits only, whatever the pointer is."""
    return hashlib.sha256(pointer.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_DIGITS]


def worst_of(badges: Collection[Badge]) -> Worst:
    for status in WORST_FIRST:
        count = sum(badge.status == status for badge in badges)
        if count:
            return Worst(status=status, count=count)
    return Worst()


def source_watch(*, project: Project, session: str) -> tuple[Badge, ...]:
    """The badges of a session's sources as they are now, at most a second old."""
    return _watch(project, session).look()


def watches_forget() -> None:
    """Forget all states, so that the next look reads everything."""
    with _lock:
        _watches.clear()


@dataclass(slots=True, kw_only=True)
class _Watch:
    """What this process knows of a session's sources."""

    project: Project
    session: str
    lock: threading.Lock = field(default_factory=threading.Lock)
    looked: float | None = None
    marks: dict[str, Hashable] = field(default_factory=dict)
    found: dict[str, SourceResolution] = field(default_factory=dict)
    trouble: dict[str, str] = field(default_factory=dict)
    badges: dict[str, Badge] = field(default_factory=dict)

    def look(self) -> tuple[Badge, ...]:
        with self.lock:
            now = time.monotonic()
            if self.looked is None or now - self.looked >= WATCH_SECONDS - _ROUNDING:
                self.looked = now
                self._look(ends=now + LOOK_SECONDS)
            return tuple(self.badges.values())

    def _look(self, *, ends: float) -> None:
        confirmed = confirmed_digests(project=self.project, sessions=[self.session])
        self._forget_all_but(confirmed)
        with project_resolver(project=self.project, pointers=list(confirmed)) as opened:
            marks = opened.marks(confirmed)
        due = [pointer for pointer in confirmed if self._is_due(pointer, marks[pointer])]
        for start in range(0, len(due), POINTERS_AT_ONCE):
            self._check({pointer: marks[pointer] for pointer in due[start : start + POINTERS_AT_ONCE]})
            if time.monotonic() > ends:
                break
        seen = self.found.keys() | self.trouble.keys()
        self.badges = {pointer: self._badge(pointer, digests) for pointer, digests in confirmed.items() if pointer in seen}

    def _is_due(self, pointer: str, mark: Hashable) -> bool:
        return mark is CHANGING or pointer in self.trouble or pointer not in self.marks or self.marks[pointer] != mark

    def _check(self, marks: Mapping[str, Hashable]) -> None:
        """Look at sources whose marks were taken before: what happens in between shows in their next mark."""
        checked = sources_check(project=self.project, pointers=list(marks), run="")
        news = [one for one in checked.resolutions if one != self.found.get(one.pointer)]
        if news:
            self._append(checked, news)
        for one in checked.resolutions:
            self.found[one.pointer], self.marks[one.pointer] = one, marks[one.pointer]
            self.trouble.pop(one.pointer, None)
        self.trouble |= {failure.pointer: failure.error.cause for failure in checked.failures}

    def _append(self, checked: Checked, news: Sequence[SourceResolution]) -> None:
        resolutions_append(
            project=self.project,
            resolutions=news,
            actor=ACTOR,
            run="",
            started_at=checked.started_at,
            finished_at=checked.finished_at,
            only_changes=True,
        )

    def _badge(self, pointer: str, confirmed: Collection[str]) -> Badge:
        found, before = self.found.get(pointer), self.badges.get(pointer)
        badge = Badge(
            key=badge_key(pointer),
            pointer=pointer,
            status="" if found is None else found.status,
            reason="" if found is None else found.reason,
            is_changed=found is not None and is_changed(found, confirmed),
            trouble=self.trouble.get(pointer, ""),
            since=timezone.now() if before is None else before.since,
        )
        return badge if before is None or badge == before else replace(badge, since=timezone.now())

    def _forget_all_but(self, pointers: Collection[str]) -> None:
        for known in (self.marks, self.found, self.trouble):
            for pointer in known.keys() - pointers:
                del known[pointer]


_watches: OrderedDict[tuple[str, str], _Watch] = OrderedDict()
_lock = threading.Lock()


def _watch(project: Project, session: str) -> _Watch:
    with _lock:
        watch = _watches.setdefault((project.pk, session), _Watch(project=project, session=session))
        watch.project = project  # its roots may have been changed
        _watches.move_to_end((project.pk, session))
        while len(_watches) > MOST_WATCHES:
            _watches.popitem(last=False)
    return watch
