"""The list of sessions, with what is being imported and what could be."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ctxweb import addresses
from ctxweb.page import counted, frame, show
from ctxweb.queries.discovery import FoundFolder, found_folders
from ctxweb.queries.imports import ImportsPage, imports_page
from ctxweb.queries.session_choices import SessionChoices, session_choices
from ctxweb.queries.sessions import ROWS, SORTS, USUAL_SORT, SessionFilters, SessionsWindow, sessions_window
from ctxweb.views import asked

FILTER_LABELS = {"q": "text", "parent": "lanes of"}  # what the page calls a filter where its parameter has another name


@dataclass(frozen=True, slots=True, kw_only=True)
class SortLink:
    """The head of a sortable column: where it leads, and how the list is sorted by it now ("", ascending, descending)."""

    name: str
    address: str
    sorted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsPage:
    """`without` are the addresses that drop one filter each; `found` is looked for only where nothing is imported, or on request."""

    filters: SessionFilters
    window: SessionsWindow
    choices: SessionChoices
    imports: ImportsPage
    found: tuple[FoundFolder, ...]
    offers_import: bool
    sorts: dict[str, SortLink]
    more: str | None
    without: tuple[tuple[str, str, str], ...]


@require_safe
def sessions(request: HttpRequest) -> HttpResponse:
    filters = SessionFilters(
        format=asked.text(request.GET, "format", longest=40),
        project=asked.text(request.GET, "project", longest=4096),
        q=asked.text(request.GET, "q", longest=200),
        parent=asked.text(request.GET, "parent", longest=40),
        sort=asked.one_of(request.GET, "sort", (*SORTS, *(f"-{name}" for name in SORTS)), USUAL_SORT),
    )
    try:
        window = sessions_window(filters=filters, after=asked.text(request.GET, "after", longest=80), limit=ROWS)
    except ValueError:
        raise Http404 from None
    page = _page(request, filters, window)
    json = addresses.api_sessions(**_parameters(filters))
    return show(
        request,
        template="sessions/page.html",
        frame=frame(request, title=counted(window.total, "session"), section="sessions", json=json),
        page=page,
        fragments={"list": "sessions/_list_fragment.html", "rows-more": "sessions/_rows.html"},
    )


def _parameters(filters: SessionFilters, **others: str | None) -> dict[str, str | int | None]:
    sort = filters.sort if filters.sort != USUAL_SORT else ""
    return {"format": filters.format, "project": filters.project, "q": filters.q, "parent": filters.parent, "sort": sort, **others}


def _page(request: HttpRequest, filters: SessionFilters, window: SessionsWindow) -> SessionsPage:
    offers_import = "import" in request.GET or not window.total
    return SessionsPage(
        filters=filters,
        window=window,
        choices=session_choices(),
        imports=imports_page(),
        found=found_folders() if offers_import else (),
        offers_import=offers_import,
        sorts={name: _sort_link(filters, name) for name in SORTS},
        more=addresses.sessions(**_parameters(filters, after=window.next)) if window.next else None,
        without=_without(filters),
    )


def _sort_link(filters: SessionFilters, name: str) -> SortLink:
    """Descending first; the column that is sorted already turns round."""
    is_current = filters.column == name
    sort = name if is_current and filters.descending else f"-{name}"
    order = ("descending" if filters.descending else "ascending") if is_current else ""
    return SortLink(name=name, address=addresses.sessions(**_parameters(replace(filters, sort=sort))), sorted=order)


def _without(filters: SessionFilters) -> tuple[tuple[str, str, str], ...]:
    """(label of the filter, value, address without it) of each filter in force."""
    given = {"format": filters.format, "project": filters.project, "q": filters.q, "parent": filters.parent}
    return tuple(
        (FILTER_LABELS.get(name, name), value, addresses.sessions(**_parameters(replace(filters, **{name: ""}))))
        for name, value in given.items()
        if value
    )
