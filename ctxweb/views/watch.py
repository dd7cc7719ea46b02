"""The live badges of a session's sources: a stream of events, and the same by asking again and again.

Both say `{"badges": [{"key", "status", "reason", "changed", "trouble", "html"}], "worst": {"status", "count"}}`: the stream first
all of them, then those that differ. static/js/watch.js reads the stream, and asks where there is none.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Collection
from http import HTTPStatus
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from ctxweb.models import Project
from ctxweb.queries.readable import readable_session
from ctxweb.services.source_watch import WATCH_SECONDS, Badge, source_watch, worst_of

STREAM_SECONDS = 600.0  # then the browser connects again, so that no stream outlives its page for long
RETRY_MS = 1_000

_streams: set[object] = set()  # of this process; changed in its event loop only


@require_safe
def source_badges(request: HttpRequest, session_id: str) -> HttpResponse:
    """All badges as they are now."""
    session, _ = readable_session(public_id=session_id)
    answer = JsonResponse(_said(source_watch(project=session.project, session=session.public_id)))
    answer.headers["Cache-Control"] = "no-store"
    return answer


async def source_events(request: HttpRequest, session_id: str) -> HttpResponseBase:
    """The badges as they change. 204 where there is no stream to be had: a browser then asks no more, and the page polls."""
    if request.method != "GET":
        return HttpResponse(status=HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": "GET"})
    project = await sync_to_async(_project)(session_id)
    if not settings.CTXWEB_EVENTS or not isinstance(request, ASGIRequest) or len(_streams) >= settings.CTXWEB_WATCHERS:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    answer = StreamingHttpResponse(_events(project, session_id), content_type="text/event-stream")
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["X-Accel-Buffering"] = "no"  # nginx would keep events back
    return answer


async def _events(project: Project, session_id: str) -> AsyncIterator[str]:
    stream = object()
    _streams.add(stream)
    try:
        yield f"retry: {RETRY_MS}\n\n"
        sent: dict[str, Badge] | None = None
        ends = time.monotonic() + STREAM_SECONDS
        while time.monotonic() < ends:
            badges = await sync_to_async(_look)(project, session_id)
            now = {badge.key: badge for badge in badges}
            if now != sent:
                news = [badge for badge in badges if sent is None or sent.get(badge.key) != badge]
                yield f"event: badges\ndata: {json.dumps(await sync_to_async(_said)(news, badges))}\n\n"
            else:
                yield ":\n\n"  # tells proxies that the stream lives, and us when its reader is gone
            sent = now
            await asyncio.sleep(WATCH_SECONDS)
    finally:
        _streams.discard(stream)


def _project(session_id: str) -> Project:
    session, _ = readable_session(public_id=session_id)
    return session.project


def _look(project: Project, session_id: str) -> tuple[Badge, ...]:
    """A look in the thread of this stream, which keeps no connection between looks."""
    try:
        project.refresh_from_db()
        return source_watch(project=project, session=session_id)
    finally:
        connection.close()


def _said(news: Collection[Badge], badges: Collection[Badge] | None = None) -> dict[str, Any]:
    worst = worst_of(news if badges is None else badges)
    return {
        "badges": [_badge(badge) for badge in news],
        "worst": {"status": worst.status, "count": worst.count},
    }


def _badge(badge: Badge) -> dict[str, Any]:
    return {
        "key": badge.key,
        "status": badge.status,
        "reason": badge.reason,
        "changed": badge.is_changed,
        "trouble": badge.trouble,
        "since": badge.since.isoformat(),
        "html": render_to_string("watch/_badge.html", {"badge": badge}),
    }
