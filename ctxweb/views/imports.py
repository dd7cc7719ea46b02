"""Import from a page: files that are sent, or a folder of this machine; and how far imports are."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import BinaryIO, cast

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.views.decorators.http import require_http_methods

from ctxweb import addresses
from ctxweb.errors import error_json
from ctxweb.page import frame, show
from ctxweb.queries.imports import imports_page
from ctxweb.services.folder_import import folder_enqueue
from ctxweb.services.importing.errors import ImportRefused
from ctxweb.storage import StorageError
from ctxweb.uploads import Uploaded, uploaded
from ctxweb.views import asked

_WORDS = {"imported": "imported", "updated": "updated", "unchanged": "already imported", "running": "being imported"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedPage:
    code: str
    message: str


@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        return _folder(request) if "folder" in request.POST else _files(request)
    if not request.htmx:  # type: ignore[attr-defined]  # set by its middleware
        return HttpResponseRedirect(addresses.sessions(**{"import": 1}))
    return _progress(request)


def _progress(request: HttpRequest) -> HttpResponse:
    """The rows of running imports; 204 while nothing has changed since `version`."""
    found = imports_page()
    if request.GET.get("version") == found.version:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    response = show(
        request,
        template="sessions/_imports_fragment.html",
        frame=frame(request, title="Imports", section="sessions", json=addresses.api_sessions()),
        page=found,
    )
    if not found.running:
        response.headers["HX-Refresh"] = "true"  # the list has new sessions
    return response


def _files(request: HttpRequest) -> HttpResponse:
    files = request.FILES.getlist("file")
    if not files:
        return _refused(request, "no_file", "No file was sent: choose at least one.")
    try:
        results = [uploaded(name=str(file.name), stream=cast(BinaryIO, file), wait=len(files) == 1) for file in files]
    except StorageError as error:
        return _refused(request, error.code, str(error))
    if _wants_json(request):
        return _as_json(results[0])
    return HttpResponseRedirect(_next(results))


def _next(results: list[Uploaded]) -> str:
    if len(results) == 1 and results[0].sessions:
        return addresses.overview(results[0].sessions[0])
    if len(results) == 1 and results[0].error is not None:
        return addresses.job(results[0].job.public_id)
    return addresses.SESSIONS


def _folder(request: HttpRequest) -> HttpResponse:
    try:
        folder_enqueue(path=asked.text(request.POST, "folder", longest=4096))
    except ImportRefused as error:
        return _refused(request, error.code, str(error))
    return HttpResponseRedirect(addresses.SESSIONS)


def _wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


def _as_json(result: Uploaded) -> HttpResponse:
    if result.error is not None:
        return error_json(status=HTTPStatus.UNPROCESSABLE_ENTITY, code=result.error["code"], message=result.error["message"])
    return JsonResponse({"message": _WORDS[result.status], "job": result.job.public_id, "sessions": result.sessions})


def _refused(request: HttpRequest, code: str, message: str) -> HttpResponse:
    if _wants_json(request):
        return error_json(status=HTTPStatus.UNPROCESSABLE_ENTITY, code=code, message=message)
    return show(
        request,
        template="sessions/refused.html",
        frame=frame(request, title="Not imported", section="sessions", json=addresses.api_sessions()),
        page=RefusedPage(code=code, message=message),
        status=HTTPStatus.UNPROCESSABLE_ENTITY,
    )
