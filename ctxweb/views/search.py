"""Full-text search over all sessions, or in one."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ctxweb import addresses
from ctxweb.page import counted, frame, show
from ctxweb.queries.search import LONGEST_QUESTION, search_page
from ctxweb.views import asked


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    page = search_page(q=asked.text(request.GET, "q", longest=LONGEST_QUESTION), session=asked.text(request.GET, "session", longest=40))
    title = f"{counted(page.found, 'block')} for “{page.q}”" if page.q else "Search"
    return show(
        request,
        template="search/page.html",
        frame=frame(request, title=title, section="search", json=addresses.api_search(page.q, session=page.session)),
        page=page,
    )
