"""Two summarizers on the same range: how each job goes, then what each kept, how long it took and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from ctxweb import addresses
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import Figures
from ctxweb.checkpoints.ranges import checkpoint_text
from ctxweb.llm.registry import SUMMARIZERS
from ctxweb.models import Summary
from ctxweb.page import session_frame, show
from ctxweb.queries.checkpoint_detail import CanaryTrial, canary_trial
from ctxweb.queries.checkpoints import lane_checkpoints
from ctxweb.queries.imports import RUNNING
from ctxweb.queries.jobs import JobDetail, job_detail
from ctxweb.queries.readable import Lane, readable_lane
from ctxweb.services.checkpoint_analysis import checkpoint_figures

ROWS = ("exact tokens", "of the range", "items kept", "changed", "lost", "canaries kept", "of canaries")
SUMMARIZER_LABELS = {kind.id: kind.label for kind in SUMMARIZERS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One job with the checkpoint that came of it and what that kept of its range."""

    job: JobDetail
    checkpoint: Checkpoint | None
    figures: Figures | None
    trial: CanaryTrial | None

    @property
    def label(self) -> str:
        return SUMMARIZER_LABELS[self.job.summary.summarizer] if self.job.summary is not None else ""

    @property
    def rows(self) -> tuple[int | None, ...]:
        """Its tokens and those of its range, then the items of the range: kept, changed, lost,
        and its canaries: kept, planted; None unknown."""
        sizes = (None, None) if self.checkpoint is None else (self.checkpoint.tokens, self.checkpoint.range_tokens)
        items = (None, None, None) if self.figures is None else (self.figures.kept, self.figures.changed, self.figures.lost)
        canaries = (None, None) if self.trial is None else (self.trial.kept, len(self.trial.canaries))
        return (*sizes, *items, *canaries)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPage:
    address: str
    public_id: str
    finding: str
    sides: tuple[Side, ...]
    rows: tuple[tuple[str, tuple[int | None, ...]], ...]
    is_running: bool
    diff: str


@require_safe
def comparison(request: HttpRequest, session_id: str, old: str, new: str) -> HttpResponse:
    lane = readable_lane(public_id=session_id)
    sides = sides_of(lane, old, new)
    is_running = any(side.job.state in RUNNING for side in sides)
    is_computed = all(side.figures is not None for side in sides if side.checkpoint is not None and side.checkpoint.has_range)
    keys = [side.checkpoint.key for side in sides if side.checkpoint is not None]
    page = ComparisonPage(
        address=addresses.comparison(session_id, old, new),
        public_id=session_id,
        finding=_finding(sides, is_running=is_running, is_computed=is_computed),
        sides=sides,
        rows=_rows(sides),
        is_running=is_running or not is_computed,
        diff=addresses.checkpoint_diff(session_id, *keys) if len(set(keys)) == 2 else "",
    )
    frame = session_frame(
        request,
        lane.session,
        tab="checkpoints",
        title="Compare summarizers",
        json=addresses.api_session(session_id, f"summaries/{old}/against/{new}"),
    )
    return show(
        request, template="summarise/comparison.html", frame=frame, page=page, fragments={"comparison": "summarise/_comparison.html"}
    )


def sides_of(lane: Lane, old: str, new: str) -> tuple[Side, ...]:
    """Both jobs of the session. Raises Http404 where one is none of its summaries."""
    jobs = [job_detail(public_id=key, now=timezone.now()) for key in (old, new)]
    if any(job.summary is None or job.summary.session != lane.session.public_id for job in jobs):
        raise Http404
    made = {one.key: one for one in lane_checkpoints(lane=lane)}
    found = [made.get(job.summary.checkpoint) for job in jobs if job.summary is not None]
    figures = checkpoint_figures(history=lane.history, checkpoints=[one for one in found if one is not None])
    return tuple(_side(job, one, figures) for job, one in zip(jobs, found, strict=True))


def _side(job: JobDetail, checkpoint: Checkpoint | None, figures: Mapping[str, Figures]) -> Side:
    if checkpoint is None:
        return Side(job=job, checkpoint=None, figures=None, trial=None)
    trial = canary_trial(checkpoint=checkpoint, text=checkpoint_text(checkpoint)) if checkpoint.state == Summary.State.TRIAL else None
    return Side(job=job, checkpoint=checkpoint, figures=figures.get(checkpoint.key), trial=trial)


def _rows(sides: tuple[Side, ...]) -> tuple[tuple[str, tuple[int | None, ...]], ...]:
    """Those of the canaries only where some were planted."""
    rows = tuple(zip(ROWS, zip(*(side.rows for side in sides), strict=True), strict=True))
    return rows if any(side.trial is not None for side in sides) else rows[:-2]


def _finding(sides: tuple[Side, ...], *, is_running: bool, is_computed: bool) -> str:
    if is_running:
        return "Two summarizers are at work on the same range."
    if not is_computed:
        return "Both have ended; what each kept is being computed."
    kept = [side.figures for side in sides]
    first, second = kept
    if first is None or second is None:
        return "Not both of them came to a checkpoint: see each job."
    if first.kept == second.kept:
        return f"Both kept {first.kept:,} items of the range."
    better = 0 if first.kept > second.kept else 1
    names = [side.label for side in sides]
    return f"{names[better]} kept {kept[better].kept:,} items of the range, {names[1 - better]} {kept[1 - better].kept:,}."  # type: ignore[union-attr]  # both are there
