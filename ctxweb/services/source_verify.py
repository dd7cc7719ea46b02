"""Verification of sources: one pointer, a session's, a project's. What is found goes to the audit, and nowhere else.

A check that was asked for or that is due writes an entry for each pointer, whether something changed or not. What the machine
could not look at is tried again and never becomes a status.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from compaction.sources.resolution import SourceResolution
from compaction.sources.resolver import Failure
from ctxweb.models import DurableItem, Project
from ctxweb.sources.resolving import project_resolver

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What one look came to. `failures` have no status. `changed` are the pointers whose source is available with another
    SHA-256 than an item was confirmed by: the finding `changed since confirmed`."""

    resolutions: tuple[SourceResolution, ...]
    failures: tuple[Failure, ...]
    changed: frozenset[str]
    started_at: datetime
    finished_at: datetime

    @property
    def statuses(self) -> Counter[str]:
        return Counter(one.status for one in self.resolutions)

    @property
    def alarms(self) -> int:
        """How many could not be read because a disk failed."""
        return sum(one.is_alarming for one in self.resolutions)


def sources_check(
    *, project: Project, pointers: Sequence[str], run: str, confirmed: Mapping[str, Collection[str]] | None = None
) -> Checked:
    """Look at the pointers, on behalf of the project. `confirmed`: the SHA-256 that items were confirmed by, by pointer.

    A failed disk is logged as an alert; the log names the pointer, never what is behind it."""
    started_at = timezone.now()
    with project_resolver(project=project, pointers=pointers) as opened:
        resolved = opened.resolver.resolve_all(pointers, run=run)
    for one in resolved.resolutions:
        if one.is_alarming:
            _log.error("ALERT: a disk failed under the source %r of project %s", one.pointer, project.pk)
    return Checked(
        resolutions=resolved.resolutions,
        failures=resolved.failures,
        changed=frozenset(one.pointer for one in resolved.resolutions if is_changed(one, (confirmed or {}).get(one.pointer, ()))),
        started_at=started_at,
        finished_at=timezone.now(),
    )


def is_changed(resolution: SourceResolution, confirmed: Collection[str]) -> bool:
    """Whether an available source is another one than at a confirmation; where none had a digest, nothing is said."""
    return resolution.status == "available" and any(digest != resolution.evidence_sha256 for digest in confirmed)


def confirmed_digests(*, project: Project, sessions: Sequence[str]) -> dict[str, set[str]]:
    """The distinct pointers of the last versions of these sessions, in the order of sessions and pointers, each with the
    SHA-256 that its items were confirmed by."""
    rows = DurableItem.objects.filter(project=project, session__in=sessions).exclude(pointer="").order_by("session", "pointer")
    found: dict[str, set[str]] = {}
    for pointer, sha256 in rows.values_list("pointer", "confirmed_sha256"):
        found.setdefault(pointer, set()).update({sha256} - {""})
    return found
