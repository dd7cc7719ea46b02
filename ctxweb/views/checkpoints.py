"""Checkpoints: the summaries of a session, recorded and made, what each kept, and what lives on along their chain."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ctxweb import addresses
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import Figures
from ctxweb.page import session_frame, show
from ctxweb.queries.checkpoints import CheckpointWindow, checkpoint_window
from ctxweb.queries.readable import Lane, readable_lane
from ctxweb.services.checkpoint_analysis import checkpoint_figures
from ctxweb.views import asked
from ctxweb.views.checkpoint_words import finding_of, made_by, state_of, trigger_of

ROWS = 40  # of a window: each needs an analysis at the first look


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointLine:
    """A row. `share`: the size of the text, 0 … 1 of its range. `diff` leads to the difference from its parent."""

    checkpoint: Checkpoint
    figures: Figures | None
    range_tokens: int | None
    share: float | None
    by: str
    trigger: str
    state: str
    diff: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointsPage:
    """`waiting` rows have no figures yet: they are computed in the next looks."""

    address: str
    public_id: str
    finding: str
    detail: str
    total: int
    lines: tuple[CheckpointLine, ...]
    waiting: int
    more: str | None


@require_safe
def checkpoints(request: HttpRequest, session_id: str) -> HttpResponse:
    lane = readable_lane(public_id=session_id)
    window = checkpoint_window(lane=lane, after=asked.number(request.GET, "after") or 0, limit=ROWS)
    page = _page(lane, window)
    frame = session_frame(
        request,
        lane.session,
        tab="checkpoints",
        title=f"Checkpoints · {window.total:,}",
        json=addresses.api_session(session_id, "checkpoints"),
    )
    return show(request, template="checkpoints/page.html", frame=frame, page=page, fragments={"checkpoints-more": "checkpoints/_rows.html"})


def _page(lane: Lane, window: CheckpointWindow) -> CheckpointsPage:
    public_id = lane.session.public_id
    figures = checkpoint_figures(history=lane.history, checkpoints=window.checkpoints)
    last = next((one for one in reversed(window.checkpoints) if one.origin == "recorded"), None) or next(reversed(window.checkpoints), None)
    finding, detail = finding_of(last, figures.get(last.key) if last is not None else None, total=window.total)
    lines = tuple(_line(public_id, one, figures.get(one.key)) for one in window.checkpoints)
    return CheckpointsPage(
        address=addresses.checkpoints(public_id),
        public_id=public_id,
        finding=finding,
        detail=detail,
        total=window.total,
        lines=lines,
        waiting=sum(line.figures is None and line.checkpoint.has_range and line.checkpoint.is_readable for line in lines),
        more=addresses.checkpoints(public_id, after=window.next) if window.next else None,
    )


def _line(session: str, checkpoint: Checkpoint, figures: Figures | None) -> CheckpointLine:
    range_tokens = checkpoint.range_tokens if checkpoint.range_tokens is not None else figures.range_tokens if figures else None
    share = checkpoint.tokens / range_tokens if checkpoint.tokens is not None and range_tokens else None
    return CheckpointLine(
        checkpoint=checkpoint,
        figures=figures,
        range_tokens=range_tokens,
        share=share,
        by=made_by(checkpoint),
        trigger=trigger_of(checkpoint),
        state=state_of(checkpoint),
        diff=addresses.checkpoint_diff(session, checkpoint.parent, checkpoint.key) if checkpoint.parent else None,
    )
