"""The list of sessions, in windows: a session, then the lanes that hang on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, F, Min, Q, QuerySet, Sum, Value, Window
from django.db.models.functions import Coalesce, RowNumber

from ctxweb.lane_rows import base_name
from ctxweb.models import Block, Compaction, Session
from ctxweb.queries.search import bodies_with
from ctxweb.queries.source_counts import UNCHECKED, SourceCounts, source_counts
from ctxweb.vocabulary import action_of

ROWS = 60  # of the page's window; a sparkline is about 0.6 KB
LANES_SHOWN = 4  # below one session; the rest is one link away
MOST_FOUND = 2_000  # bodies that a text filter looks at
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)

SORTS: dict[str, tuple[str, Any]] = {  # value of `sort`: column, what stands for unknown
    "last": ("ended_at", _LONG_AGO),
    "calls": ("call_count", 0),
    "peak": ("peak_context", 0),
    "compactions": ("recorded_compactions", 0),
    "drops": ("inferred_drops", 0),
    "left": ("removed_blocks", 0),
    "tokens": ("cache_read_tokens", 0),
}
USUAL_SORT = "-last"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilters:
    """An empty field keeps everything. `parent` lists the lanes of one session, `sort` is a key of `SORTS`, with `-` descending."""

    format: str = ""
    project: str = ""
    q: str = ""
    parent: str = ""
    sort: str = USUAL_SORT

    @property
    def column(self) -> str:
        name = self.sort.removeprefix("-")
        return name if name in SORTS else "last"

    @property
    def descending(self) -> bool:
        return self.sort.startswith("-") or self.column != self.sort


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionCount:
    """How many compactions of one action a session has; `action` is a colour class."""

    action: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMark:
    """The worst status of the sources of a session's durable state by their last look, and how many have it."""

    status: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One lane. Token figures are the provider's, None unknown. `lanes` is how many lanes hang on it; `spark` its prompt sizes in
    few bins, and in which of them something left; `sources` is None where no fact is kept."""

    id: str
    native_id: str
    parent: str | None
    lane: str
    name: str
    cwd: str
    project: str
    format: str
    producer_version: str
    model: str
    started_at: datetime | None
    ended_at: datetime | None
    calls: int
    messages: int
    peak_context: int | None
    context_window: int | None
    window_is_assumed: bool
    compactions: tuple[CompactionCount, ...]
    removed_blocks: int
    findings: int
    lanes: int
    spark: dict[str, Any]
    sources: SourceMark | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionGroup:
    session: SessionRow
    lanes: tuple[SessionRow, ...]
    more_lanes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTotals:
    """Over the sessions that match: how many, lanes included, and what happened in them."""

    sessions: int
    lanes: int
    compactions: int
    with_compactions: int
    drops: int
    with_drops: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsWindow:
    """`total` counts all readable lanes, whatever the filters; `next` is the place to go on after."""

    total: int
    totals: SessionTotals
    groups: tuple[SessionGroup, ...]
    next: str | None


def sessions_window(*, filters: SessionFilters, after: str, limit: int) -> SessionsWindow:
    """At most `limit` rows behind the place `after`; a filter by text or parent lists lanes for themselves."""
    readable = Session.objects.filter(current__isnull=False)
    matching = _matching(readable, filters)
    flat = bool(filters.q or filters.parent)
    listed = matching if flat else matching.filter(parent__isnull=True)
    ordered = _ordered(listed, filters, after)
    window = list(ordered.select_related("parent")[: limit + 1])
    lanes = {} if flat else _lanes(window[:limit])
    groups, shown = _groups(window[:limit], lanes, limit=limit)
    has_more = len(window) > shown
    return SessionsWindow(
        total=readable.count(),
        totals=_totals(matching),
        groups=groups,
        next=_place(window[shown - 1]) if has_more and shown else None,
    )


def _matching(readable: QuerySet[Session], filters: SessionFilters) -> QuerySet[Session]:
    if filters.format:
        readable = readable.filter(format=filters.format)
    if filters.project:
        readable = readable.filter(cwd=filters.project)
    if filters.parent:
        readable = readable.filter(parent__public_id=filters.parent)
    if filters.q:
        named = Q(title__icontains=filters.q) | Q(native_id__icontains=filters.q) | Q(cwd__icontains=filters.q)
        found = bodies_with(q=filters.q, most=MOST_FOUND).ids
        readable = readable.filter(named | Q(current__in=_revisions_with(found)))
    return readable


def _revisions_with(bodies: Sequence[int]) -> QuerySet[Any]:
    return Block.objects.filter(body_id__in=bodies).values("revision_id")


def _ordered(listed: QuerySet[Session], filters: SessionFilters, after: str) -> QuerySet[Session]:
    column, unknown = SORTS[filters.column]
    listed = listed.annotate(place=Coalesce(F(column), Value(unknown)))
    if after:
        value, pk = _place_of(after, unknown)
        beyond = Q(place__lt=value) | Q(place=value, pk__lt=pk) if filters.descending else Q(place__gt=value) | Q(place=value, pk__gt=pk)
        listed = listed.filter(beyond)
    return listed.order_by("-place", "-pk") if filters.descending else listed.order_by("place", "pk")


def _place(session: Session) -> str:
    """A window goes on behind this place."""
    value = session.place  # type: ignore[attr-defined]  # annotated by `_ordered`
    return f"{value.isoformat() if isinstance(value, datetime) else value}~{session.pk}"


def _place_of(after: str, unknown: Any) -> tuple[Any, int]:
    """The value and row of a place. Raises ValueError where `after` is none."""
    value, _, pk = after.partition("~")
    return (datetime.fromisoformat(value) if isinstance(unknown, datetime) else int(value)), int(pk)


def _lanes(sessions: Sequence[Session]) -> dict[int, list[Session]]:
    """The first lanes of each session, each annotated with how many there are."""
    ranked = (
        Session.objects.filter(parent__in=[session.pk for session in sessions], current__isnull=False)
        .annotate(
            rank=Window(RowNumber(), partition_by="parent", order_by=["started_at", "pk"]),
            siblings=Window(Count("pk"), partition_by="parent"),
        )
        .filter(rank__lte=LANES_SHOWN)
        .select_related("parent")
        .order_by("parent", "rank")
    )
    lanes: dict[int, list[Session]] = {}
    for lane in ranked:
        lanes.setdefault(lane.parent_id or 0, []).append(lane)
    return lanes


def _groups(sessions: Sequence[Session], lanes: dict[int, list[Session]], *, limit: int) -> tuple[tuple[SessionGroup, ...], int]:
    """Groups until `limit` rows are used (at least one), and how many sessions these are."""
    shown, rows = 0, 0
    for session in sessions:
        rows += 1 + len(lanes.get(session.pk, ()))
        if rows > limit and shown:
            break
        shown += 1
    kept = sessions[:shown]
    rows_shown = [*kept, *(lane for session in kept for lane in lanes.get(session.pk, ()))]
    counts = _compaction_counts(rows_shown)
    sources = source_counts(sessions=[session.public_id for session in rows_shown])
    groups = []
    for session in kept:
        own = lanes.get(session.pk, [])
        siblings = own[0].siblings if own else 0  # type: ignore[attr-defined]  # annotated by `_lanes`
        groups.append(
            SessionGroup(
                session=_row(session, counts, sources, lanes=siblings),
                lanes=tuple(_row(lane, counts, sources, lanes=0) for lane in own),
                more_lanes=siblings - len(own),
            )
        )
    return tuple(groups), shown


def _compaction_counts(sessions: Sequence[Session]) -> dict[int, tuple[CompactionCount, ...]]:
    """Numbered compactions of each session by action, the most frequent first."""
    rows = (
        Compaction.objects.filter(history__revision__in=[session.current_id for session in sessions], history__origin="recorded")
        .filter(index__isnull=False)
        .order_by()
        .values("history__revision", "mechanism", "origin")
        .annotate(count=Count("pk"), first=Min("ordinal"))
        .order_by("first")
    )
    sums: dict[int, dict[str, int]] = {}
    for row in rows:
        own = sums.setdefault(row["history__revision"], {})
        action = action_of(mechanism=row["mechanism"], origin=row["origin"]).name
        own[action] = own.get(action, 0) + row["count"]
    order = ("summarise", "clear", "truncate", "replace", "spill", "remove", "inferred")
    return {
        revision: tuple(CompactionCount(action=action, count=own[action]) for action in order if action in own)
        for revision, own in sums.items()
    }


def _source_mark(counts: SourceCounts | None) -> SourceMark | None:
    if counts is None:
        return None
    status = counts.worst or (UNCHECKED if counts.statuses.get(UNCHECKED) else "available")
    return SourceMark(status=status, count=counts.statuses[status])


def _row(session: Session, counts: dict[int, tuple[CompactionCount, ...]], sources: dict[str, SourceCounts], *, lanes: int) -> SessionRow:
    return SessionRow(
        id=session.public_id,
        native_id=session.native_id,
        parent=session.parent.public_id if session.parent else None,
        lane=session.lane,
        name=session.title or session.native_id or session.public_id,
        cwd=session.cwd,
        project=base_name(session.cwd),
        format=session.format,
        producer_version=session.producer_version,
        model=session.model,
        started_at=session.started_at,
        ended_at=session.ended_at,
        calls=session.call_count,
        messages=session.message_count,
        peak_context=session.peak_context,
        context_window=session.window,
        window_is_assumed=session.window_is_assumed,
        compactions=counts.get(session.current_id or 0, ()),
        removed_blocks=session.removed_blocks,
        findings=session.findings,
        lanes=lanes,
        spark=session.spark,
        sources=_source_mark(sources.get(session.public_id)),
    )


def _totals(matching: QuerySet[Session]) -> SessionTotals:
    sums = matching.order_by().aggregate(
        lanes=Count("pk"),
        sessions=Count("pk", filter=Q(parent__isnull=True)),
        compactions=Sum("recorded_compactions"),
        with_compactions=Count("pk", filter=Q(recorded_compactions__gt=0)),
        drops=Sum("inferred_drops"),
        with_drops=Count("pk", filter=Q(inferred_drops__gt=0)),
    )
    return SessionTotals(**{name: value or 0 for name, value in sums.items()})
