"""The entries of the audit, and what drifted between two dates."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from ctxweb import addresses
from ctxweb.audit_rows import SIGNED_OFF
from ctxweb.models import LOCAL
from ctxweb.page import counted, frame, show
from ctxweb.queries.audit import AuditFilters, AuditWindow, audit_window, drift, readable_project
from ctxweb.queries.source_counts import STATUSES, UNCHECKED
from ctxweb.views import asked
from ctxweb.views.audit_words import DriftLine, drift_line, drift_said, since_asked
from ctxweb.views.choices import Choice, same
from ctxweb.views.windows import first_rows, page_rows

ENTRIES_MORE, DRIFT_MORE = "entries-more", "drift-more"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntriesPage:
    address: str
    audit: str
    finding: str
    said: str
    filtered: bool
    choices: tuple[Choice, ...]
    window: AuditWindow
    more: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftPage:
    """A window of the sources that are not as they were; `compared` had been looked at."""

    address: str
    audit: str
    finding: str
    since: str
    session: str
    compared: int
    total: int
    lines: tuple[DriftLine, ...]
    more: str | None


@require_safe
def audit_entries(request: HttpRequest) -> HttpResponse:
    """Entries with a pointer, status, name, round or session, the newest first."""
    lengths = {"pointer": 600, "status": 12, "actor": 200, "run": 60, "session": 40}
    filters = AuditFilters(**{name: asked.text(request.GET, name, longest=longest) for name, longest in lengths.items()})
    limit = page_rows() if request.headers.get("HX-Request") else first_rows()
    project = readable_project(project_id=LOCAL)
    window = audit_window(project=project, filters=filters, after=asked.number(request.GET, "after"), limit=limit)
    given = asdict(filters)
    page = EntriesPage(
        address=addresses.audit_entries(),
        audit=addresses.audit(session=filters.session),
        finding=f"The chain has {counted(window.total, 'entry').replace('entrys', 'entries')}.",
        said=f"{len(window.entries):,} shown, the newest first" + (", the rest as you scroll" if window.next else ""),
        filtered=any(given.values()),
        choices=_choices(filters),
        window=window,
        more=addresses.audit_entries(**given, after=window.next) if window.next else None,
    )
    page_frame = frame(request, title="Audit entries", section="audit", json=addresses.api_audit(**given))
    return show(request, template="audit/entries.html", frame=page_frame, page=page, fragments={ENTRIES_MORE: "audit/_entry_rows.html"})


@require_safe
def audit_drift(request: HttpRequest) -> HttpResponse:
    """Sources whose finding is another one than at the beginning of a day."""
    since, session = since_asked(request), asked.text(request.GET, "session", longest=40)
    found = drift(project=readable_project(project_id=LOCAL), since=since.moment, until=timezone.now(), session=session)
    rows = sorted(found.rows, key=lambda row: (row.before is None, row.after == "available", row.pointer))
    start, limit = asked.number(request.GET, "after") or 0, page_rows() if request.headers.get("HX-Request") else first_rows()
    more = addresses.audit_drift(since=since.day, session=session, after=start + limit) if len(rows) > start + limit else None
    page = DriftPage(
        address=addresses.audit_drift(session=session),
        audit=addresses.audit(session=session),
        finding=f"Since {since.day} {drift_said(found)}.",
        since=since.day,
        session=session,
        compared=found.compared,
        total=len(rows),
        lines=tuple(map(drift_line, rows[start : start + limit])),
        more=more,
    )
    twin = addresses.api_audit("drift", since=since.moment.isoformat(), session=session)
    page_frame = frame(request, title=f"Drift since {since.day}", section="audit", json=twin)
    return show(request, template="audit/drift.html", frame=page_frame, page=page, fragments={DRIFT_MORE: "audit/_drift_rows.html"})


def _choices(filters: AuditFilters) -> tuple[Choice, ...]:
    statuses = (*((name, name) for name in STATUSES if name != UNCHECKED), (SIGNED_OFF, "signed off"))
    return (
        Choice(name="status", label="status", value=filters.status, options=statuses),
        Choice(name="actor", label="by", value=filters.actor, options=None),
        Choice(name="pointer", label="pointer", value=filters.pointer, options=None),
        *((Choice(name="session", label="session", value=filters.session, options=same((filters.session,))),) if filters.session else ()),
    )
