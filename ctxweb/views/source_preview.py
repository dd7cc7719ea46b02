"""What the next call would get: the exact text of the durable state with its exact tokens, in pieces."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ctxweb import addresses
from ctxweb.page import session_frame, show
from ctxweb.queries.readable import readable_session
from ctxweb.services.durable_preview import PIECE_CHARS, PreviewTwin, durable_preview
from ctxweb.views import asked

TARGET, MORE = "preview", "piece-more"
HEAD_CHARS = 900  # of the card beside the items


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewPage:
    """One piece of the text; `more` leads to the next, `start` to the beginning, `address` to the whole."""

    preview: PreviewTwin
    address: str
    more: str | None
    start: str | None


@require_safe
def source_preview(request: HttpRequest, session_id: str) -> HttpResponse:
    session, _ = readable_session(public_id=session_id)
    is_card = request.headers.get("HX-Target") == TARGET
    start = asked.number(request.GET, "start") or 0
    found = durable_preview(session=session, start=start, chars=HEAD_CHARS if is_card else PIECE_CHARS)
    address = addresses.source_preview(session_id)
    page = PreviewPage(
        preview=found,
        address=address,
        more=addresses.source_preview(session_id, start=found.next) if found.next is not None else None,
        start=address if found.start else None,
    )
    twin = addresses.api_session(session_id, "durable/preview")
    frame = session_frame(request, session, tab="sources", title="What the next call would get", json=twin)
    fragments = {TARGET: "sources/_preview_card.html", MORE: "sources/_piece.html"}
    return show(request, template="sources/preview.html", frame=frame, page=page, fragments=fragments)
