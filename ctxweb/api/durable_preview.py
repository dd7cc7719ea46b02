"""What the next call would get of a session's durable state."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router

from ctxweb.queries.readable import readable_session
from ctxweb.services.durable_preview import PreviewTwin, durable_preview

router = Router(tags=["durable state"])
Start = Annotated[int, Query(ge=0, le=10**9)]


@router.get("/sessions/{session_id}/durable/preview", response=PreviewTwin, summary="The exact text of the state with its exact tokens")
def preview(request: HttpRequest, session_id: str, start: Start = 0) -> PreviewTwin:
    session, _ = readable_session(public_id=session_id)
    return durable_preview(session=session, start=start)
