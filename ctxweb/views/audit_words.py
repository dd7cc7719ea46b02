"""What the pages of the audit say, and the links of their filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.http import HttpRequest
from django.utils import timezone

from ctxweb.page import counted
from ctxweb.queries.audit import Drift, DriftRow
from ctxweb.queries.audit_sources import AuditSource
from ctxweb.queries.source_counts import STATUSES, SourceCounts
from ctxweb.views import asked
from ctxweb.views.source_rows import short_pointer

USUAL_DAYS = 7
WORDS = {
    # status: what became of a source
    "missing": "went missing",
    "corrupt": "became corrupt",
    "denied": "became denied",
    "unsupported": "became unsupported",
    "available": "came back",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusLink:
    name: str
    count: int
    address: str
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """A date as the form has it, and the moment at which it begins in UTC."""

    day: str
    moment: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    pointer: str
    short: str
    status: str
    reason: str
    changed: bool
    digest: str
    actor: str
    at: str | None
    session: str
    more_sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftLine:
    """What became of a source: `said` in words, with the entry that says so."""

    pointer: str
    short: str
    before: str
    after: str
    said: str
    at: str
    entry: int


def status_links(counts: SourceCounts, status: str, address: Callable[[str], str]) -> tuple[StatusLink, ...]:
    there = [(name, counts.statuses.get(name, 0)) for name in STATUSES] + [("changed", counts.changed)]
    return tuple(
        StatusLink(name=name, count=count, address=address("" if name == status else name), chosen=name == status)
        for name, count in there
        if count or name == status
    )


def since_asked(request: HttpRequest) -> Since:
    """The date of the parameter `since`, a week ago where there is none."""
    try:
        day = datetime.strptime(asked.text(request.GET, "since", longest=10), "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        day = (timezone.now() - timedelta(days=USUAL_DAYS)).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return Since(day=f"{day:%Y-%m-%d}", moment=day)


def source_line(source: AuditSource) -> SourceLine:
    return SourceLine(
        pointer=source.pointer,
        short=short_pointer(source.pointer),
        status=source.status,
        reason=(source.reason or "").replace("_", " "),
        changed=source.changed,
        digest=(source.digest or "")[:8],
        actor=source.actor or "",
        at=source.checked_at,
        session=source.session,
        more_sessions=source.sessions - 1,
    )


def drift_line(row: DriftRow) -> DriftLine:
    return DriftLine(
        pointer=row.pointer,
        short=short_pointer(row.pointer),
        before=row.before or "unchecked",
        after=row.after,
        said=_became(row),
        at=row.at,
        entry=row.entry,
    )


def drift_said(found: Drift) -> str:
    """`2 went missing, 1 has other bytes`; sources that were looked at for the first time are no drift."""
    counts = Counter(_became(row) for row in found.rows if row.before is not None)
    first = sum(row.before is None for row in found.rows)
    said = [f"{count:,} {words}" for words, count in counts.most_common()]
    said += [f"{counted(first, 'source')} looked at for the first time"] if first else []
    return ", ".join(said) or "nothing changed"


def _became(row: DriftRow) -> str:
    if row.before is None:
        return "looked at for the first time"
    if row.before == row.after:
        return "has other bytes" if row.digest_changed else "has another reason"
    return WORDS.get(row.after, row.after)
