"""A session's durable state: read it, replace it, change its items; its versions, proposals and the facts kept from messages."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Header, Router, Schema, Status

from ctxweb.api.base import ApiError
from ctxweb.api.paging import MAXIMUM, After, Limit, number_after
from ctxweb.models import Session
from ctxweb.queries.durable import (
    DurableTwin,
    ProposalRow,
    ProposalsWindow,
    durable_twin,
    proposal_row,
    proposals_window,
    readable_proposal,
)
from ctxweb.queries.durable_versions import DifferenceTwin, VersionsWindow, VersionTwin, difference_twin, version_twin, versions_window
from ctxweb.queries.readable import readable_session
from ctxweb.services.durable_changes import durable_change, durable_replace
from ctxweb.services.durable_keep import fact_keep
from ctxweb.services.durable_proposals import ProposalDecided, candidate_add, proposal_decide
from ctxweb.services.durable_versions import Author

router = Router(tags=["durable state"])
IfMatch = Annotated[str, Header(alias="If-Match", description='The version that the change is made for, in quotation marks: "3", or "0"')]
Items = list[dict[str, Any]]
_TAG = re.compile(r'"(0|[1-9][0-9]{0,8})"')


class Signed(Schema):
    """Who makes the change, and why; a removal needs a reason."""

    author: str
    reason: str = ""


class WholeState(Signed):
    """A state: four lists of items. One that is left out is empty."""

    facts: Items = []
    pending_items: Items = []
    retrieval_evidence: Items = []
    retrieval_traces: Items = []


class Changes(WholeState):
    """Items take the place of those with their id, or are added. `remove` has ids by list, `moves` are changes of the status of
    pending items, `hits` of a retrieval become evidence."""

    remove: dict[str, list[str]] = {}
    moves: Items = []
    hits: Items = []


class Kept(Signed):
    """What message `seq` says, as a fact. Without `fact_id` it gets one."""

    seq: int = Field(ge=1)
    content: str
    fact_id: str = ""


class Candidate(Schema):
    """An item of the list `domain` that a rule or a summary found."""

    author: str
    domain: str
    item: dict[str, Any]


class Decision(Signed):
    accepted: bool


@router.get(
    "/sessions/{session_id}/durable", response=DurableTwin, summary="Facts, pending items and evidence with the status of their sources"
)
def durable(request: HttpRequest, session_id: str, response: HttpResponse) -> DurableTwin:
    return _answer(response, _session(session_id))


@router.put("/sessions/{session_id}/durable", response=DurableTwin, summary="Replace the state: a new version")
def durable_put(request: HttpRequest, session_id: str, given: WholeState, response: HttpResponse, if_match: IfMatch = "") -> DurableTwin:
    session = _session(session_id)
    durable_replace(
        project=session.project,
        session=session.public_id,
        expected=_expected(if_match),
        author=_author(given),
        state=given.dict(exclude={"author", "reason"}),
    )
    return _answer(response, session)


@router.patch("/sessions/{session_id}/durable", response=DurableTwin, summary="Change, move, add or remove items: a new version")
def durable_patch(request: HttpRequest, session_id: str, given: Changes, response: HttpResponse, if_match: IfMatch = "") -> DurableTwin:
    session = _session(session_id)
    durable_change(
        project=session.project,
        session=session.public_id,
        expected=_expected(if_match),
        author=_author(given),
        changes=given.dict(exclude={"author", "reason"}, exclude_unset=True),
    )
    return _answer(response, session)


@router.post("/sessions/{session_id}/durable/facts", response=DurableTwin, summary="Keep what a message says as a fact: a new version")
def durable_keep(request: HttpRequest, session_id: str, given: Kept, response: HttpResponse, if_match: IfMatch = "") -> DurableTwin:
    session, revision = readable_session(public_id=session_id)
    fact_keep(
        session=session,
        revision=revision,
        seq=given.seq,
        content=given.content,
        fact_id=given.fact_id,
        author=_author(given),
        expected=_expected(if_match),
    )
    return _answer(response, session)


@router.get("/sessions/{session_id}/durable/versions", response=VersionsWindow, summary="Versions of the state, newest first")
def durable_versions(request: HttpRequest, session_id: str, after: After = "", limit: Limit = MAXIMUM) -> VersionsWindow:
    return versions_window(session=_session(session_id), after=number_after(after), limit=limit)


@router.get("/sessions/{session_id}/durable/versions/{number}", response=VersionTwin, summary="One version with its canonical JSON")
def durable_version(request: HttpRequest, session_id: str, number: int) -> VersionTwin:
    return version_twin(session=_session(session_id), number=number)


@router.get("/sessions/{session_id}/durable/versions/{number}/difference", response=DifferenceTwin,
            summary="What a version changed, against its parent or the version `against`")  # fmt: skip
def durable_difference(request: HttpRequest, session_id: str, number: int, against: int | None = None) -> DifferenceTwin:
    return difference_twin(session=_session(session_id), before=against, after=number)


@router.get("/sessions/{session_id}/durable/proposals", response=ProposalsWindow,
            summary="Candidates and conflicts, newest first, each with what a person decided about it")  # fmt: skip
def durable_proposals(request: HttpRequest, session_id: str, after: After = "", limit: Limit = MAXIMUM) -> ProposalsWindow:
    return proposals_window(session=_session(session_id), after=number_after(after), limit=limit)


@router.post("/sessions/{session_id}/durable/candidates", response={HTTPStatus.CREATED: ProposalRow},
             summary="Propose an item: it waits for a person")  # fmt: skip
def durable_candidate(request: HttpRequest, session_id: str, given: Candidate) -> Status[ProposalRow]:
    session = _session(session_id)
    made = candidate_add(session=session.public_id, domain=given.domain, item=given.item, author=Author(name=given.author, origin="api"))
    return Status(HTTPStatus.CREATED, proposal_row(made))


@router.post("/sessions/{session_id}/durable/proposals/{number}/decision", response=DurableTwin,
             summary="Accept a candidate or the other side of a conflict as a new version, or turn it down")  # fmt: skip
def durable_decide(
    request: HttpRequest, session_id: str, number: int, given: Decision, response: HttpResponse, if_match: IfMatch = ""
) -> DurableTwin:
    session = _session(session_id)
    proposal = readable_proposal(session=session, number=number)
    expected = _expected(if_match)
    try:
        proposal_decide(project=session.project, proposal=proposal, accepted=given.accepted, expected=expected, author=_author(given))
    except ProposalDecided as error:
        raise ApiError(status=HTTPStatus.CONFLICT, code="decided", message=str(error)) from None
    return _answer(response, session)


def _session(public_id: str) -> Session:
    return readable_session(public_id=public_id)[0]


def _author(given: Signed) -> Author:
    return Author(name=given.author, origin="api", reason=given.reason)


def _expected(if_match: str) -> int:
    """The version that a change is made for. Raises ApiError 428 without one, 400 where it is none of ours."""
    if not if_match:
        message = 'Send If-Match with the version that the change is made for, as GET gave it in ETag: "3", or "0" where there is none.'
        raise ApiError(status=HTTPStatus.PRECONDITION_REQUIRED, code="if_match_required", message=message)
    tag = _TAG.fullmatch(if_match.strip())
    if tag is None:
        message = 'If-Match: give one version in quotation marks, as GET gave it in ETag: "3".'
        raise ApiError(status=HTTPStatus.BAD_REQUEST, code="if_match_invalid", message=message)
    return int(tag[1])


def _answer(response: HttpResponse, session: Session) -> DurableTwin:
    twin = durable_twin(session=session)
    response.headers["ETag"] = f'"{twin.version}"'
    return twin
