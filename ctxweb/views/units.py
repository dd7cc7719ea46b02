"""Units: what one prompt measures for each program that counts in its own way, and what providers would refuse."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from compaction.analysis.deviation import TEXT_GROUPS, Deviation
from ctxweb import addresses
from ctxweb.page import counted, session_frame, show
from ctxweb.queries.readable import readable_lane
from ctxweb.queries.units import RulesRow, UnitDetail, unit_detail
from ctxweb.views import asked


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupColumn:
    """A kind of text with how many were measured."""

    name: str
    texts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitLine:
    """A unit with its deviation in each column, None where there was no such text."""

    title: str
    of: str
    cells: tuple[Deviation | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitsPage:
    public_id: str
    calls: int
    previous: str | None
    next: str | None
    detail: UnitDetail
    columns: tuple[GroupColumn, ...]
    lines: tuple[UnitLine, ...]
    finding: str
    rules: tuple[RulesRow, ...]


@require_safe
def units(request: HttpRequest, session_id: str) -> HttpResponse:
    lane = readable_lane(public_id=session_id)
    calls = lane.session.call_count
    call = asked.number(request.GET, "call") or calls
    if not 1 <= call <= calls:
        raise Http404
    detail = unit_detail(lane=lane, call=call)
    page = UnitsPage(
        public_id=session_id,
        calls=calls,
        previous=addresses.units(session_id, call=call - 1) if call > 1 else None,
        next=addresses.units(session_id, call=call + 1) if call < calls else None,
        detail=detail,
        columns=_columns(detail),
        lines=_lines(detail),
        finding=_finding(detail),
        rules=detail.rules,
    )
    frame = session_frame(request, lane.session, tab="replay", title="Units", json=addresses.api_units(session_id, call=call), call=call)
    return show(request, template="units/page.html", frame=frame, page=page)


def _columns(detail: UnitDetail) -> tuple[GroupColumn, ...]:
    texts = {one.group: one.texts for one in detail.deviations}
    return tuple(GroupColumn(name=group, texts=texts.get(group, 0)) for group in TEXT_GROUPS)


def _lines(detail: UnitDetail) -> tuple[UnitLine, ...]:
    found = {(one.unit, one.group): one for one in detail.deviations}
    units = {one.unit: (one.title, one.of) for one in detail.deviations}
    return tuple(
        UnitLine(title=title, of=of, cells=tuple(found.get((unit, group)) for group in TEXT_GROUPS)) for unit, (title, of) in units.items()
    )


def _finding(detail: UnitDetail) -> str:
    """The unit of tokens that is farthest off on a kind of text."""
    tokens = [one for one in detail.deviations if one.of == "tokens"]
    if not tokens:
        return "No text of this session is long enough to hold a unit against exact tokens."
    worst = max(tokens, key=lambda one: abs(one.pooled - 1))
    more = "more" if worst.pooled > 1 else "less"
    share = round(abs(worst.pooled - 1) * 100)
    return f"{worst.title} counts {share:,} % {more} than exact tokens on {worst.group}, over {counted(worst.texts, 'text')}."
