"""The audit as people read it: entries, what drifted between two dates, and the bundle for those who check it elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime

from django.db.models import Max, QuerySet
from django.http import Http404

from compaction.sources.bundle import bundle_lines
from compaction.sources.chain import Head
from ctxweb.audit_rows import SIGNED_OFF, audit_key, entries_of, head_of, sign_off_row, time_text
from ctxweb.importers.values import clean_text
from ctxweb.models import AuditEntry, DurableItem, Project, SignOff
from ctxweb.storable import pointer_key

TOOL = "ctxweb 0.1.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilters:
    """Empty: all. `session` leaves the entries of the sources of a session's durable state, and its sign-offs."""

    pointer: str = ""
    status: str = ""
    actor: str = ""
    run: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """One entry. `note` is that of a sign-off (status `signed_off`), whose `pointer` is what it is about."""

    seq: int
    pointer: str
    status: str
    digest: str
    reason: str
    actor: str
    policy_version: str
    resolver_version: str
    started_at: str
    finished_at: str
    run: str
    prev_hash: str
    hash: str
    mac: str
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditWindow:
    """Entries, the newest first. `head` is the end of the chain, `NUMBER:HASH`; `total` counts all entries of the project,
    `statuses` the pointers of its durable states by their last status, `unchecked` included."""

    project: str
    head: str
    total: int
    statuses: dict[str, int]
    entries: tuple[EntryRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftRow:
    """A pointer whose finding at the second date is another one. `before` and `after` are statuses, None where nobody had
    looked; `entry` is the number of the entry that says so."""

    pointer: str
    before: str | None
    after: str
    reason: str
    digest_changed: bool
    at: str
    entry: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What became of sources between two dates. `compared` pointers had been looked up by the second."""

    project: str
    since: datetime
    until: datetime
    compared: int
    rows: tuple[DriftRow, ...]


def readable_project(*, project_id: str) -> Project:
    """Raises Http404."""
    found = Project.objects.filter(pk=clean_text(project_id)).first()
    if found is None:
        raise Http404
    return found


def audit_window(*, project: Project, filters: AuditFilters, after: int | None, limit: int) -> AuditWindow:
    """The newest `limit` entries before the number `after`."""
    rows = _matching(project, filters)
    window = list((rows if after is None else rows.filter(seq__lt=after)).order_by("-seq")[: limit + 1])
    shown = window[:limit]
    notes = dict(SignOff.objects.filter(project=project, seq__in=[row.seq for row in shown]).values_list("seq", "note"))
    head = head_of(project_id=project.pk) or Head()
    return AuditWindow(
        project=project.pk,
        head=str(head),
        total=head.seq,
        statuses=_statuses(project),
        entries=tuple(_entry_row(row, notes.get(row.seq)) for row in shown),
        next=str(shown[-1].seq) if len(window) > limit else None,
    )


def drift(*, project: Project, since: datetime, until: datetime, session: str = "") -> Drift:
    """Pointers whose last finding up to `until` differs from that up to `since`, by pointer. `session` leaves its own."""
    rows = _of_session(AuditEntry.objects.filter(project=project).exclude(status=SIGNED_OFF), project, session)
    before, after = (_last_of(rows.filter(finished_at__lte=time_text(date))) for date in (since, until))
    found = [_drift_row(before.get(pointer), entry) for pointer, entry in sorted(after.items())]
    return Drift(project=project.pk, since=since, until=until, compared=len(after), rows=tuple(row for row in found if row is not None))


def bundle(*, project: Project, now: datetime, after: int = 0) -> Iterator[bytes]:
    """The lines of a bundle with the entries behind number `after` (0: all), their sign-offs and the end of the chain.
    Raises Http404 where the chain has no such place."""
    start = _place(project, after)
    entries = list(entries_of(AuditEntry.objects.filter(project=project, seq__gt=after).order_by("seq")))
    end = entries[-1].seq if entries else after  # a sign-off that was written since has no entry here
    sign_offs = SignOff.objects.filter(project=project, seq__gt=after, seq__lte=end).order_by("seq").values()
    return bundle_lines(
        entries,
        tenant=project.pk,
        tool=TOOL,
        made_at=time_text(now),
        start=start,
        key=audit_key(),
        more={"sign_offs": [sign_off_row(one) for one in sign_offs]},
    )


def sign_off_entry(*, made: SignOff) -> EntryRow:
    """The entry that records a sign-off."""
    return _entry_row(AuditEntry.objects.get(project=made.project, seq=made.seq), made.note)


def _place(project: Project, seq: int) -> Head:
    if not seq:
        return Head()
    digest = AuditEntry.objects.filter(project=project, seq=seq).values_list("hash", flat=True).first()
    if digest is None:
        raise Http404
    return Head(seq, digest)


def _matching(project: Project, filters: AuditFilters) -> QuerySet[AuditEntry]:
    given = {name: clean_text(getattr(filters, name)) for name in ("status", "actor", "run") if getattr(filters, name)}
    if filters.pointer:
        given["pointer"] = pointer_key(filters.pointer)
    return _of_session(AuditEntry.objects.filter(project=project, **given), project, filters.session)


def _of_session(rows: QuerySet[AuditEntry], project: Project, session: str) -> QuerySet[AuditEntry]:
    if not session:
        return rows
    session = clean_text(session)
    own = DurableItem.objects.filter(project=project, session=session).exclude(pointer="").values("pointer")
    return rows.filter(pointer__in=own) | rows.filter(pointer=f"session:{session}")


def _last_of(rows: QuerySet[AuditEntry]) -> dict[str, AuditEntry]:
    last = rows.order_by().values("pointer").annotate(last=Max("seq")).values("last")
    return {row.pointer: row for row in rows.filter(seq__in=last)}


def _drift_row(before: AuditEntry | None, after: AuditEntry) -> DriftRow | None:
    digest_changed = before is not None and bool(before.digest and after.digest) and before.digest != after.digest
    if before is not None and before.status == after.status and before.reason == after.reason and not digest_changed:
        return None
    return DriftRow(
        pointer=after.pointer,
        before=None if before is None else before.status,
        after=after.status,
        reason=after.reason,
        digest_changed=digest_changed,
        at=after.finished_at,
        entry=after.seq,
    )


def _statuses(project: Project) -> dict[str, int]:
    """Pointers of the project's durable states by their last status."""
    own = DurableItem.objects.filter(project=project).exclude(pointer="").order_by().values("pointer").distinct()
    last = AuditEntry.objects.filter(project=project, pointer__in=own).order_by().values("pointer").annotate(last=Max("seq")).values("last")
    counts = Counter(AuditEntry.objects.filter(project=project, seq__in=last).values_list("status", flat=True))
    return {**dict(sorted(counts.items())), "unchecked": own.count() - sum(counts.values())}


def _entry_row(row: AuditEntry, note: str | None) -> EntryRow:
    return EntryRow(**{field.name: getattr(row, field.name) for field in fields(EntryRow) if field.name != "note"}, note=note)
