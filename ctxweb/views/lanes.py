"""Which history of a session a page shows: the parameter `h` names a replay, without it the recorded one is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest

from ctxweb.queries.histories import lane_histories
from ctxweb.queries.readable import Lane, readable_lane
from ctxweb.views import asked

RECORDED = "recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLink:
    """One history to switch to."""

    word: str
    address: str
    current: bool


def lane_asked(request: HttpRequest, session_id: str) -> Lane:
    """The session with the history that `h` names; `history=recorded` is understood too. Raises Http404."""
    named = asked.text(request.GET, "h", longest=40) or asked.text(request.GET, "history", longest=40)
    return readable_lane(public_id=session_id, history_id="" if named == RECORDED else named)


def history_links(lane: Lane, address: Callable[[str], str]) -> tuple[HistoryLink, ...]:
    """Links to this page for each history; `address` takes the parameter `h`. None where there is nothing to switch to."""
    rows = lane_histories(lane=lane)
    if len(rows) < 2:
        return ()
    return tuple(
        HistoryLink(word=row.word, address=address("" if row.origin == RECORDED else row.id), current=row.id == lane.history.public_id)
        for row in rows
    )
