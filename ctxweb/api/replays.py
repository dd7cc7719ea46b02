"""JSON twins of the replay page and of the policies; a replay is kept by POST."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema, Status
from pydantic import ConfigDict

from ctxweb.api.base import ApiError
from ctxweb.api.histories import HistoryTwin, history_twin
from ctxweb.queries.jobs import JobDetail, job_detail
from ctxweb.queries.policies import PolicyRow, policy_rows
from ctxweb.queries.readable import Lane, readable_history, readable_lane
from ctxweb.queries.replay import ReplayDetail, replayed
from ctxweb.replays.asked import USUAL_POLICY, ReplayAsked, ReplayRefused, limits_of, replay_asked
from ctxweb.services.history_replay import replay_keep

router = Router(tags=["replays"])
HOW = ("policy", "count", "summaries", "orphans")  # parameters that are no limits


class ReplayRequest(Schema):
    """`policy` is the id of a published one, or a policy as data. `limits` are `trigger`, `hard_limit`, `window`, `<layer>.<field>`."""

    model_config = ConfigDict(extra="forbid")  # a misspelt name would keep another replay than the one that was meant

    policy: str | dict[str, Any] = USUAL_POLICY
    limits: dict[str, Any] = {}
    count: str = "own"
    summaries: str = "stub"
    orphans: str = "keep"


@router.get("/policies", response=list[PolicyRow], summary="Policies that can be replayed, with their numbers and where these come from")
def policies(request: HttpRequest) -> list[PolicyRow]:
    return list(policy_rows())


@router.get(
    "/sessions/{session_id}/replay",
    response=ReplayDetail,
    summary="A replay on the fly; each further parameter is a limit of the policy. Nothing is stored",
)
def replay(
    request: HttpRequest, session_id: str, policy: str = USUAL_POLICY, count: str = "own", summaries: str = "stub", orphans: str = "keep"
) -> ReplayDetail:
    lane = readable_lane(public_id=session_id)
    try:
        asked = replay_asked(
            policy=policy, limits=limits_of(policy, request.GET.dict(), others=HOW), count=count, summaries=summaries, orphans=orphans
        )
        return replayed(lane=lane, asked=asked).detail
    except ReplayRefused as refused:
        raise _refusal(refused) from refused


@router.post(
    "/sessions/{session_id}/replays",
    response={HTTPStatus.OK: HistoryTwin, HTTPStatus.CREATED: HistoryTwin, HTTPStatus.ACCEPTED: JobDetail},
    summary="Keep a replay as a history; 202 with a job where that takes over a second",
)
def replay_post(request: HttpRequest, session_id: str, given: ReplayRequest) -> Status[HistoryTwin | JobDetail]:
    lane = readable_lane(public_id=session_id)
    try:
        asked = replay_asked(policy=given.policy, limits=given.limits, count=given.count, summaries=given.summaries, orphans=given.orphans)
        return _kept(lane, asked)
    except ReplayRefused as refused:
        raise _refusal(refused) from refused


def _kept(lane: Lane, asked: ReplayAsked) -> Status[HistoryTwin | JobDetail]:
    kept = replay_keep(session=lane.session, revision=lane.revision, asked=asked)
    if kept.history is None and kept.job is not None:
        return Status(HTTPStatus.ACCEPTED, job_detail(public_id=kept.job.public_id, now=timezone.now()))
    found = history_twin(lane=readable_history(public_id=kept.history or ""), dropped=kept.dropped)
    return Status(HTTPStatus.CREATED if kept.made else HTTPStatus.OK, found)


def _refusal(refused: ReplayRefused) -> ApiError:
    return ApiError(status=HTTPStatus.BAD_REQUEST, code="replay_refused", message=f"{refused.field}: {refused}")
