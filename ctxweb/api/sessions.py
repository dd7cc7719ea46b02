"""JSON twins of the session list, the overview and the search; import by upload."""

from __future__ import annotations

from http import HTTPStatus
from typing import BinaryIO, cast

from django.http import HttpRequest
from ninja import Router, Status

from ctxweb.api.base import ApiError
from ctxweb.api.paging import MAXIMUM, After, Limit, number_after
from ctxweb.queries.jobs import JobDetail, job_detail
from ctxweb.queries.readable import readable_lane
from ctxweb.queries.search import SearchPage, search_page
from ctxweb.queries.session_detail import CallsWindow, SessionDetail, calls_window, session_detail
from ctxweb.queries.sessions import USUAL_SORT, SessionFilters, SessionsWindow, sessions_window
from ctxweb.storage import StorageError
from ctxweb.uploads import Uploaded, uploaded

router = Router(tags=["sessions"])
_STORAGE_STATUS = {"too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "disk_full": HTTPStatus.INSUFFICIENT_STORAGE}
_STATUS = {"imported": HTTPStatus.CREATED, "updated": HTTPStatus.CREATED, "unchanged": HTTPStatus.OK}


@router.get("/sessions", response=SessionsWindow, summary="Sessions with their lanes, filtered and sorted like the page")
def sessions(
    request: HttpRequest,
    format: str = "",
    project: str = "",
    q: str = "",
    parent: str = "",
    sort: str = USUAL_SORT,
    after: After = "",
    limit: Limit = MAXIMUM,
) -> SessionsWindow:
    filters = SessionFilters(format=format, project=project, q=q[:200], parent=parent, sort=sort)
    try:
        return sessions_window(filters=filters, after=after, limit=limit)
    except ValueError:
        message = "after: give the value of `next` of an earlier answer with the same sort, as it was."
        raise ApiError(status=HTTPStatus.UNPROCESSABLE_ENTITY, code="invalid", message=message) from None


@router.post(
    "/sessions",
    response={HTTPStatus.OK: SessionDetail, HTTPStatus.CREATED: SessionDetail, HTTPStatus.ACCEPTED: JobDetail},
    summary="Import a file: multipart `file`, or the file itself as the body, called by the header X-Filename",
)
def session_post(request: HttpRequest) -> Status[SessionDetail | JobDetail]:
    name, stream = _file(request)
    try:
        result = uploaded(name=name, stream=stream)
    except StorageError as error:
        status = _STORAGE_STATUS.get(error.code, HTTPStatus.INTERNAL_SERVER_ERROR)
        raise ApiError(status=status, code=error.code, message=str(error)) from error
    return _answer(result)


def _file(request: HttpRequest) -> tuple[str, BinaryIO]:
    """The name and the bytes of the upload. Raises ApiError."""
    if request.content_type != "multipart/form-data":
        return request.headers.get("X-Filename", "upload")[:200], cast(BinaryIO, request)
    file = request.FILES.get("file")
    if file is None:
        message = "A multipart upload needs a part named `file`."
        raise ApiError(status=HTTPStatus.UNPROCESSABLE_ENTITY, code="no_file", message=message)
    return str(file.name), cast(BinaryIO, file)


def _answer(result: Uploaded) -> Status[SessionDetail | JobDetail]:
    if result.error is not None:
        raise ApiError(status=HTTPStatus.UNPROCESSABLE_ENTITY, code=result.error["code"], message=result.error["message"])
    if not result.sessions:
        return Status(HTTPStatus.ACCEPTED, job_detail(public_id=result.job.public_id, now=result.job.created_at))
    return Status(_STATUS[result.status], _detail(result.sessions[0], call=None))


@router.get("/sessions/{session_id}", response=SessionDetail, summary="Counts, usage, histories, warnings; `call` adds a call's readout")
def session(request: HttpRequest, session_id: str, call: int | None = None) -> SessionDetail:
    return _detail(session_id, call=call)


@router.get("/sessions/{session_id}/calls", response=CallsWindow, summary="Model calls: reported and estimated size, fidelity, unexplained")
def session_calls(request: HttpRequest, session_id: str, after: After = "", limit: Limit = MAXIMUM) -> CallsWindow:
    lane = readable_lane(public_id=session_id)
    return calls_window(session=lane.session, revision=lane.revision, after=number_after(after) or 0, limit=limit)


@router.get("/search", response=SearchPage, summary="Blocks whose text holds every term of `q`")
def search(request: HttpRequest, q: str = "", session: str = "") -> SearchPage:
    return search_page(q=q.replace("\0", ""), session=session)


def _detail(session_id: str, *, call: int | None) -> SessionDetail:
    lane = readable_lane(public_id=session_id)
    return session_detail(session=lane.session, revision=lane.revision, history=lane.history, call=call)
