"""The overview of a session: context map, readout, what happened, what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ctxweb import addresses
from ctxweb.charts.context_map import Stack
from ctxweb.page import counted, session_frame, show
from ctxweb.queries.map_table import MapTable, map_table
from ctxweb.queries.overview import map_page, overview_page, readout_page
from ctxweb.queries.readable import Lane, readable_lane
from ctxweb.views import asked

STACKS = ("order", "kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePage:
    """The map as a table; `more` is the address of the next window."""

    public_id: str
    table: MapTable
    more: str | None
    stack: Stack | None


@require_safe
def overview(request: HttpRequest, session_id: str) -> HttpResponse:
    lane = readable_lane(public_id=session_id)
    if request.GET.get("as") == "table":
        return _table(request, lane)
    stack = cast("Stack | None", asked.one_of(request.GET, "stack", STACKS, "") or None)
    call = asked.number(request.GET, "call")
    page: Any = None
    target = request.htmx.target if request.htmx else None  # type: ignore[attr-defined]  # set by its middleware
    if target == "readout":
        page = readout_page(session=lane.session, history=lane.history, call=call or 1, stack=stack)
        if page is None:
            raise Http404
    elif target == "map":
        page = map_page(session=lane.session, history=lane.history, call=call, stack=stack)
    else:
        page = overview_page(session=lane.session, history=lane.history, call=call, stack=stack)
    return _show(request, lane, page, call=page.selected.call if page.selected else None)


def _show(request: HttpRequest, lane: Lane, page: Any, *, call: int | None) -> HttpResponse:
    session = lane.session
    title = counted(session.recorded_compactions, "compaction")
    json = addresses.with_query(addresses.api_session(session.public_id), call=call)
    return show(
        request,
        template="overview/page.html",
        frame=session_frame(request, session, tab="overview", title=title, json=json, call=call),
        page=page,
        fragments={"map": "overview/_map.html", "readout": "overview/_readout.html"},
    )


def _table(request: HttpRequest, lane: Lane) -> HttpResponse:
    session = lane.session
    after = asked.number(request.GET, "after") or 0
    table = map_table(session=session, history=lane.history, after=after)
    more = addresses.with_query(addresses.overview(session.public_id), **{"as": "table"}, after=table.next) if table.next else None
    return show(
        request,
        template="overview/table.html",
        frame=session_frame(
            request, session, tab="overview", title="Context map as a table", json=addresses.api_session(session.public_id, "calls")
        ),
        page=TablePage(public_id=session.public_id, table=table, more=more, stack=None),
        fragments={"rows-more": "overview/_table_rows.html"},
    )
