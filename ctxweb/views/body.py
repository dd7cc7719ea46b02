"""The text of a block in pieces, and as a download that no browser opens."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from ctxweb import addresses
from ctxweb.page import session_frame, show
from ctxweb.queries.body import BodyPiece, body_of, body_piece, body_texts
from ctxweb.queries.readable import readable_session
from ctxweb.views import asked
from ctxweb.views.downloads import as_download

TARGET = "piece-more"


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyPage:
    """One piece of a text; `more` leads to the next, `download` to the whole of it."""

    piece: BodyPiece
    public_id: str
    more: str | None
    download: str
    start: str | None


@require_safe
def body(request: HttpRequest, session_id: str, digest: str) -> HttpResponseBase:
    session, revision = readable_session(public_id=session_id)
    if request.GET.get("as") == "text":
        found = body_of(revision=revision, digest=digest)
        pieces = (piece.encode() for piece in body_texts(body=found))
        return as_download(StreamingHttpResponse(pieces), name=f"{digest}.txt")
    piece = body_piece(revision=revision, digest=digest, start=asked.number(request.GET, "start") or 0)
    address = addresses.body(session_id, digest)
    page = BodyPage(
        piece=piece,
        public_id=session_id,
        more=addresses.with_query(address, start=piece.next) if piece.next is not None else None,
        download=addresses.with_query(address, **{"as": "text"}),
        start=address if piece.start else None,
    )
    block = piece.blocks[0] if piece.blocks else None
    twin = addresses.api_session(session_id, f"body/{digest}")
    frame = session_frame(request, session, tab="fate", title="Text of a block", json=twin, block=block)
    answer: HttpResponse = show(request, template="body/page.html", frame=frame, page=page, fragments={TARGET: "body/_piece.html"})
    return answer
