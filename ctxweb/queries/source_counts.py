"""How the sources of sessions stand by the last entry of the audit: one query, however many sessions, pointers and entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from ctxweb.audit_rows import SIGNED_OFF
from ctxweb.models import AuditEntry, DurableItem

UNCHECKED = "unchecked"  # nobody has looked at the source yet
WORST_FIRST = ("corrupt", "missing", "denied", "unsupported")  # as the watch of an open page has it
STATUSES = ("available", "missing", "denied", "corrupt", "unsupported", UNCHECKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCounts:
    """The distinct sources of a session by their last status, those without a look as `unchecked`. `changed` are available,
    but not as they were when an item was confirmed by them."""

    statuses: Mapping[str, int] = field(default_factory=dict)
    changed: int = 0

    @property
    def total(self) -> int:
        return sum(self.statuses.values())

    @property
    def available(self) -> int:
        return self.statuses.get("available", 0)

    @property
    def worst(self) -> str:
        """The worst status that a source has; empty where none is worse than `available`."""
        return next((status for status in WORST_FIRST if self.statuses.get(status)), "")

    @property
    def worst_count(self) -> int:
        return self.statuses.get(self.worst, 0)

    @property
    def said(self) -> str:
        """`2 missing`, or how many there are where nothing is wrong; empty without sources."""
        if self.worst:
            return f"{self.worst_count:,} {self.worst}"
        unchecked = self.statuses.get(UNCHECKED, 0)
        return f"{unchecked:,} not checked" if unchecked else self.calm

    @property
    def calm(self) -> str:
        """What is said once all were looked at and none has a bad status."""
        return f"{self.total:,} available" if self.total else "none yet"


NO_SOURCES = SourceCounts()


def source_counts(*, sessions: Sequence[str]) -> dict[str, SourceCounts]:
    """The counts of these sessions, by public id; a session without sources is not in it."""
    rows = with_last(DurableItem.objects.filter(session__in=sessions).exclude(pointer=""))
    sums = rows.values("session", "last_status").annotate(count=Count("pointer", distinct=True), other=_changed()).order_by()
    found: dict[str, SourceCounts] = {}
    for row in sums:
        before = found.get(row["session"], NO_SOURCES)
        statuses = {**before.statuses, row["last_status"]: row["count"]}
        found[row["session"]] = SourceCounts(statuses=statuses, changed=before.changed + row["other"])
    return found


def project_sources(*, project: str, session: str = "") -> SourceCounts:
    """The counts over all sessions of a project, each pointer once; `session` leaves its own."""
    items = DurableItem.objects.filter(project=project).exclude(pointer="")
    rows = with_last(items.filter(session=session) if session else items)
    sums = list(rows.values("last_status").annotate(count=Count("pointer", distinct=True), other=_changed()).order_by())
    return SourceCounts(statuses={row["last_status"]: row["count"] for row in sums}, changed=sum(row["other"] for row in sums))


def session_sources(*, session: str) -> SourceCounts:
    return source_counts(sessions=[session]).get(session, NO_SOURCES)


def last_looks() -> QuerySet[AuditEntry]:
    """The entries of the pointer of the row outside, the newest first: a seek, however long its history is."""
    rows = AuditEntry.objects.filter(project=OuterRef("project"), pointer=OuterRef("pointer"))
    return rows.exclude(status=SIGNED_OFF).order_by("-seq")


def with_last(items: QuerySet[DurableItem]) -> QuerySet[Any]:
    """The items with `last_status` and `last_digest` of their sources."""
    last = last_looks()
    return items.annotate(
        last_status=Coalesce(Subquery(last.values("status")[:1]), Value(UNCHECKED)),
        last_digest=Coalesce(Subquery(last.values("digest")[:1]), Value("")),
    )


def is_changed() -> Q:
    """Whether the source of an item is available, but not as it was when the item was confirmed."""
    return Q(last_status="available") & ~Q(confirmed_sha256="") & ~Q(confirmed_sha256=F("last_digest"))


def _changed() -> Count:
    return Count("pointer", distinct=True, filter=is_changed())
