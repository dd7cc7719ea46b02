"""All sources of a project with their last look, the worst first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, IntegerField, Max, Min, Q, Subquery, Value, When

from ctxweb.models import AuditEntry, DurableItem, Project, SignOff
from ctxweb.queries.source_counts import UNCHECKED, WORST_FIRST, is_changed, last_looks, project_sources, with_last

ORDER = (*WORST_FIRST, UNCHECKED, "available")
CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSource:
    """A pointer with the last entry about it (None: nobody has looked). `session` is the first of the `sessions` sessions that
    use it, `items` how many durable items do; `changed`: it is available, but not as it was when one of them was confirmed."""

    pointer: str
    status: str
    reason: str | None
    digest: str | None
    actor: str | None
    checked_at: str | None
    entry: int | None
    changed: bool
    session: str
    sessions: int
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSources:
    """A window of them: `matching` of `total`; `statuses` counts all by their last status, `changed` those that are not what was
    confirmed."""

    project: str
    total: int
    matching: int
    statuses: dict[str, int]
    changed: int
    sources: tuple[AuditSource, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOffRow:
    seq: int
    subject: str
    name: str
    note: str
    at: str


def audit_sources(*, project: Project, status: str = "", session: str = "", after: int = 0, limit: int) -> AuditSources:
    """The sources with `status` (empty: all; `changed` is one too), the first `limit` behind `after` of them."""
    counts = project_sources(project=project.pk, session=session)
    items = DurableItem.objects.filter(project=project).exclude(pointer="")
    rows = with_last(items.filter(session=session) if session else items)
    if status:
        rows = rows.filter(is_changed() if status == CHANGED else Q(last_status=status))
    ranks = Case(*(When(last_status=name, then=Value(place)) for place, name in enumerate(ORDER)), output_field=IntegerField())
    named = rows.annotate(rank=ranks, last_seq=Subquery(last_looks().values("seq")[:1])).values(
        "pointer", "rank", "last_status", "last_seq"
    )
    grouped = named.annotate(
        first=Min("session"),
        users=Count("session", distinct=True),
        uses=Count("pk"),
        other=Max(Case(When(is_changed(), then=Value(1)), default=Value(0), output_field=IntegerField())),
    )
    window = list(grouped.order_by("rank", "pointer")[after : after + limit + 1])
    matching = counts.changed if status == CHANGED else counts.statuses.get(status, 0) if status else counts.total
    return AuditSources(
        project=project.pk,
        total=counts.total,
        matching=matching,
        statuses=dict(counts.statuses),
        changed=counts.changed,
        sources=_sources(project, window[:limit]),
        next=str(after + limit) if len(window) > limit else None,
    )


def sign_offs(*, project: Project, limit: int, session: str = "") -> tuple[SignOffRow, ...]:
    """The last words of persons on the project or its sessions; `session` leaves those on it."""
    rows = SignOff.objects.filter(project=project).order_by("-seq")
    shown = (rows.filter(subject=f"session:{session}") if session else rows)[:limit]
    return tuple(SignOffRow(seq=row.seq, subject=row.subject, name=row.name, note=row.note, at=row.at) for row in shown)


def _sources(project: Project, rows: Iterable[dict[str, Any]]) -> tuple[AuditSource, ...]:
    shown = list(rows)
    entries = {row.seq: row for row in AuditEntry.objects.filter(project=project, seq__in=[row["last_seq"] or 0 for row in shown])}
    return tuple(_source(row, entries.get(row["last_seq"] or 0)) for row in shown)


def _source(row: dict[str, Any], entry: AuditEntry | None) -> AuditSource:
    return AuditSource(
        pointer=row["pointer"],
        status=row["last_status"],
        reason=None if entry is None else entry.reason,
        digest=None if entry is None else entry.digest or None,
        actor=None if entry is None else entry.actor,
        checked_at=None if entry is None else entry.finished_at,
        entry=None if entry is None else entry.seq,
        changed=bool(row["other"]),
        session=row["first"],
        sessions=row["users"],
        items=row["uses"],
    )
