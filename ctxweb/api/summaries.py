"""Have a part of a session summarised: what it would take and cost, or a job that makes a checkpoint."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpRequest
from django.utils import timezone
from ninja import Body, Field, Query, Router, Schema, Status
from pydantic import ConfigDict

from ctxweb.api.base import ApiError
from ctxweb.queries.jobs import JobDetail, job_detail
from ctxweb.queries.readable import readable_lane, readable_session
from ctxweb.services.checkpoint_plan import SummaryPlan, summary_plan
from ctxweb.services.checkpoint_summarize import summary_open
from ctxweb.services.summary_asked import EXTRACTIVE, SummaryAsked, SummaryRefused
from ctxweb.views.comparison import sides_of

router = Router(tags=["checkpoints"])


class SummaryRequest(Schema):
    """`from` and `to` are calls; without them the whole view of the last one. `keep_tokens`: the newest part of the view that stays.
    `dry_run`: the plan, and nobody is asked. `actor` is who asks, as the job names them."""

    model_config = ConfigDict(extra="forbid")  # a misspelt name would pay for another summary than the one that was meant

    from_call: int | None = Field(None, alias="from")
    to_call: int | None = Field(None, alias="to")
    summarizer: str = EXTRACTIVE
    shape: str = "framed"
    focus: str = ""
    keep_tokens: int = 0
    incremental: bool = False
    canaries: int = 0
    max_tokens: int = 0
    dry_run: bool = False
    actor: str = Field("api", min_length=1, max_length=200)


@router.post(
    "/sessions/{session_id}/summaries",
    response={HTTPStatus.OK: SummaryPlan, HTTPStatus.ACCEPTED: JobDetail},
    summary="Summarise what came with some calls and keep it as a checkpoint; 202 with the job, the same for the same question",
)
def summary_post(request: HttpRequest, session_id: str, given: Body[SummaryRequest | None] = None) -> Status[SummaryPlan | JobDetail]:
    session, _ = readable_session(public_id=session_id)
    wanted = given or SummaryRequest.model_validate({})
    try:
        asked = _asked(wanted)
        if wanted.dry_run:
            return Status(HTTPStatus.OK, summary_plan(session=session, asked=asked))
        job = summary_open(session=session, asked=asked, actor=wanted.actor)
    except SummaryRefused as refused:
        raise _refusal(refused) from refused
    return Status(HTTPStatus.ACCEPTED, job_detail(public_id=job.public_id, now=timezone.now()))


@router.get("/sessions/{session_id}/summaries/plan", response=SummaryPlan, summary="The dry run: nothing is written, nobody is asked")
def summary_dry_run(request: HttpRequest, session_id: str, given: Query[SummaryRequest]) -> SummaryPlan:
    session, _ = readable_session(public_id=session_id)
    try:
        return summary_plan(session=session, asked=_asked(given))
    except SummaryRefused as refused:
        raise _refusal(refused) from refused


class SideTwin(Schema):
    """A job beside another on the same range: the exact tokens of its checkpoint and of the range, the items of the range, and the
    canaries of a trial."""

    job: JobDetail
    tokens: int | None
    range_tokens: int | None
    kept: int | None
    changed: int | None
    lost: int | None
    canaries_kept: int | None
    canaries: int | None


@router.get(
    "/sessions/{session_id}/summaries/{old}/against/{new}",
    response=list[SideTwin],
    summary="Two summary jobs on the same range, side by side",
)
def summary_against(request: HttpRequest, session_id: str, old: str, new: str) -> list[SideTwin]:
    names = ("tokens", "range_tokens", "kept", "changed", "lost", "canaries_kept", "canaries")
    sides = sides_of(readable_lane(public_id=session_id), old, new)
    return [SideTwin(job=side.job, **dict(zip(names, side.rows, strict=True))) for side in sides]


def _refusal(refused: SummaryRefused) -> ApiError:
    where = f"{refused.field}: " if refused.field else ""
    return ApiError(status=HTTPStatus.UNPROCESSABLE_ENTITY, code=refused.code, message=f"{where}{refused}")


def _asked(given: SummaryRequest) -> SummaryAsked:
    return SummaryAsked(
        from_call=given.from_call,
        to_call=given.to_call,
        summarizer=given.summarizer,
        shape=given.shape,  # type: ignore[arg-type]  # it is checked there
        focus=given.focus,
        keep_tokens=given.keep_tokens,
        is_incremental=given.incremental,
        canaries=given.canaries,
        max_tokens=given.max_tokens,
    )
