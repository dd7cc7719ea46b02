"""The audit of a project: entries, drift, sign-offs, anchors, and the bundle for those who check it elsewhere."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Router, Schema, Status

from ctxweb.api.base import ApiError
from ctxweb.api.paging import MAXIMUM, After, Limit, number_after
from ctxweb.audit_anchors import AnchorsWindow, anchors_window
from ctxweb.models import LOCAL
from ctxweb.queries.audit import AuditFilters, AuditWindow, Drift, EntryRow, audit_window, bundle, drift, readable_project, sign_off_entry
from ctxweb.queries.audit_chain import ChainState, audit_chain
from ctxweb.queries.readable import readable_session
from ctxweb.services.audit import SignOffRefused, sign_off

router = Router(tags=["audit"])


class SignedOff(Schema):
    """A person's word on a session's sources or, without `session`, on the project. The name is recorded as claimed."""

    name: str
    note: str = ""
    session: str = ""
    project: str = LOCAL


@router.get("/audit", response=AuditWindow, summary="Entries of the audit, newest first")
def audit(
    request: HttpRequest,
    project: str = LOCAL,
    pointer: str = "",
    status: str = "",
    actor: str = "",
    run: str = "",
    session: str = "",
    after: After = "",
    limit: Limit = MAXIMUM,
) -> AuditWindow:
    filters = AuditFilters(pointer=pointer, status=status, actor=actor, run=run, session=session)
    return audit_window(project=readable_project(project_id=project), filters=filters, after=number_after(after), limit=limit)


@router.get("/audit/drift", response=Drift, summary="Sources whose finding at `until` is another one than at `since`")
def audit_drift(request: HttpRequest, since: datetime, until: datetime | None = None, project: str = LOCAL, session: str = "") -> Drift:
    dates = {"since": since, "until": until or timezone.now()}
    for name, date in dates.items():
        if timezone.is_naive(date):
            message = f"{name}: give a time with its zone, such as 2026-10-01T09:00:00Z."
            raise ApiError(status=HTTPStatus.UNPROCESSABLE_ENTITY, code="naive_timestamp", message=message)
    return drift(project=readable_project(project_id=project), session=session, **dates)


@router.get("/audit/chain", response=ChainState, summary="Whether the audit is what was written; checks every entry")
def audit_check(request: HttpRequest, project: str = LOCAL) -> ChainState:
    return audit_chain(project_id=readable_project(project_id=project).pk)


@router.get("/audit/anchors", response=AnchorsWindow, summary="Anchors of the chain, oldest first: keep a copy elsewhere")
def audit_anchors(request: HttpRequest, project: str = LOCAL, after: After = "", limit: Limit = MAXIMUM) -> AnchorsWindow:
    found = readable_project(project_id=project)
    return anchors_window(project_id=found.pk, after=number_after(after) or 0, limit=limit)


@router.post("/audit/sign-offs", response={HTTPStatus.CREATED: EntryRow}, summary="Sign off a session or the project, with a note")
def audit_sign_off(request: HttpRequest, given: SignedOff) -> Status[EntryRow]:
    project = readable_project(project_id=given.project)
    subject = f"project:{project.pk}"
    if given.session:
        session, _ = readable_session(public_id=given.session)
        project, subject = session.project, f"session:{session.public_id}"
    try:
        made = sign_off(project=project, subject=subject, name=given.name, note=given.note)
    except SignOffRefused as error:
        raise ApiError(status=HTTPStatus.UNPROCESSABLE_ENTITY, code="sign_off_refused", message=str(error)) from None
    return Status(HTTPStatus.CREATED, sign_off_entry(made=made))


@router.get(
    "/audit/bundle",
    response={HTTPStatus.OK: None},
    summary="The chain as a file: `python -m compaction.sources.verify_bundle FILE` checks it offline",
    openapi_extra={
        "responses": {
            200: {"description": "OK", "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
        }
    },
)
def audit_bundle(request: HttpRequest, project: str = LOCAL, after: After = "") -> HttpResponse:
    found = readable_project(project_id=project)
    lines = bundle(project=found, now=timezone.now(), after=number_after(after) or 0)
    answer = HttpResponse(b"".join(lines), content_type="application/octet-stream")
    answer.headers["Content-Disposition"] = f'attachment; filename="audit-{found.pk}.bundle.jsonl"'
    return answer
