"""JSON twins of the pages of checkpoints."""

from __future__ import annotations

from dataclasses import dataclass, fields

from django.http import HttpRequest
from ninja import Router

from ctxweb.api.paging import MAXIMUM, After, Limit, number_after
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import Figures
from ctxweb.queries.checkpoints import checkpoint_window
from ctxweb.queries.readable import readable_lane
from ctxweb.services.checkpoint_analysis import checkpoint_figures

router = Router(tags=["checkpoints"])


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointTwin(Checkpoint):
    """`retention` in numbers; None where text or range cannot be read, or where it is computed in a later look."""

    retention: Figures | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointsTwin:
    """A window of a session's checkpoints; `chains` are the keys of those that end a chain of at least two."""

    session: str
    total: int
    recorded: int
    made: int
    checkpoints: tuple[CheckpointTwin, ...]
    chains: tuple[str, ...]
    next: str | None


@router.get("/sessions/{session_id}/checkpoints", response=CheckpointsTwin, summary="Summary checkpoints: range, sizes, what each kept")
def session_checkpoints(request: HttpRequest, session_id: str, after: After = "", limit: Limit = MAXIMUM) -> CheckpointsTwin:
    lane = readable_lane(public_id=session_id)
    window = checkpoint_window(lane=lane, after=number_after(after) or 0, limit=limit)
    figures = checkpoint_figures(history=lane.history, checkpoints=window.checkpoints)
    return CheckpointsTwin(
        session=session_id,
        total=window.total,
        recorded=window.recorded,
        made=window.made,
        checkpoints=tuple(twin_of(one, figures.get(one.key)) for one in window.checkpoints),
        chains=window.chains,
        next=str(window.next) if window.next else None,
    )


def twin_of(checkpoint: Checkpoint, figures: Figures | None) -> CheckpointTwin:
    return CheckpointTwin(**{field.name: getattr(checkpoint, field.name) for field in fields(Checkpoint)}, retention=figures)
