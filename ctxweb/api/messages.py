"""JSON twins of a session's messages, import report and texts."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router

from ctxweb.api.paging import MAXIMUM, After, Limit, number_after, place_after
from ctxweb.queries.body import BodyPiece, body_piece
from ctxweb.queries.messages import MessageFilters, MessagesWindow, messages_window
from ctxweb.queries.readable import readable_lane, readable_session
from ctxweb.queries.report import RecordRow, RecordWindow, ReportSummary, readable_record, record_window, report_summary

router = Router(tags=["messages"])


@router.get("/sessions/{session_id}/messages", response=MessagesWindow, summary="Messages and blocks with tokens")
def session_messages(
    request: HttpRequest,
    session_id: str,
    role: str = "",
    kind: str = "",
    tool: str = "",
    state: str = "",
    lane: str = "",
    after: After = "",
    limit: Limit = MAXIMUM,
) -> MessagesWindow:
    filters = MessageFilters(role=role, kind=kind, tool=tool, state=state, lane=lane)
    return messages_window(lane=readable_lane(public_id=session_id), filters=filters, after=place_after(after), limit=limit)


@router.get("/sessions/{session_id}/report", response=ReportSummary, summary="What the source held, by verdict")
def session_report(request: HttpRequest, session_id: str) -> ReportSummary:
    session, revision = readable_session(public_id=session_id)
    return report_summary(session=session, revision=revision)


@router.get("/sessions/{session_id}/records", response=RecordWindow, summary="Every record of the source with its verdict and place")
def session_records(request: HttpRequest, session_id: str, verdict: str = "", after: After = "", limit: Limit = MAXIMUM) -> RecordWindow:
    _, revision = readable_session(public_id=session_id)
    return record_window(revision=revision, verdict=verdict, after=number_after(after) or 0, limit=limit)


@router.get("/sessions/{session_id}/records/{number}", response=RecordRow, summary="One record of the source")
def session_record(request: HttpRequest, session_id: str, number: int) -> RecordRow:
    _, revision = readable_session(public_id=session_id)
    return readable_record(revision=revision, number=number)


@router.get("/sessions/{session_id}/body/{digest}", response=BodyPiece, summary="A text in pieces: go on at `next`")
def session_body(request: HttpRequest, session_id: str, digest: str, start: int = 0) -> BodyPiece:
    _, revision = readable_session(public_id=session_id)
    return body_piece(revision=revision, digest=digest, start=start)
