"""Error answers: a small escaped page, or `{"error": {"code", "message"}}` under the API."""

from dataclasses import dataclass
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from ctxweb.access import is_api


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorPage:
    status: int
    code: str
    title: str
    message: str


BAD_REQUEST = ErrorPage(
    status=HTTPStatus.BAD_REQUEST,
    code="bad_request",
    title="This request cannot be read",
    message="The host name or a value in the request is not one that this server accepts. Open the address that `manage.py serve` printed.",
)
FORBIDDEN = ErrorPage(
    status=HTTPStatus.FORBIDDEN,
    code="forbidden",
    title="Refused",
    message="Changes are accepted from a page of this dashboard, or with the API token of this machine. Reload the page and try again.",
)
NOT_FOUND = ErrorPage(
    status=HTTPStatus.NOT_FOUND,
    code="not_found",
    title="There is nothing here",
    message="The address is wrong, or what it named has been removed. The list of sessions shows what there is.",
)
METHOD_NOT_ALLOWED = ErrorPage(
    status=HTTPStatus.METHOD_NOT_ALLOWED,
    code="method_not_allowed",
    title="This address does not do that",
    message="The address exists but does not accept this method. /api/v1/openapi.json lists what each address accepts.",
)
TOO_LARGE = ErrorPage(
    status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    code="too_large",
    title="Too large",
    message="The request is larger than this server accepts. docs/operations.md lists the limits and how to change them.",
)
SERVER_ERROR = ErrorPage(
    status=HTTPStatus.INTERNAL_SERVER_ERROR,
    code="server_error",
    title="Something went wrong here",
    message="The server could not answer. Nothing was changed by halves; the log folder of the state folder says more.",
)


def error_json(*, status: int, code: str, message: str) -> JsonResponse:
    return JsonResponse({"error": {"code": code, "message": message}}, status=status)


def error_answer(request: HttpRequest, page: ErrorPage) -> HttpResponse:
    """`page` in the form that the caller reads."""
    if is_api(request):
        return error_json(status=page.status, code=page.code, message=page.message)
    return render(request, f"errors/{page.status}.html", {"page": page}, status=page.status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_answer(request, BAD_REQUEST)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_answer(request, FORBIDDEN)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_answer(request, NOT_FOUND)


def server_error(request: HttpRequest) -> HttpResponse:
    return error_answer(request, SERVER_ERROR)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return error_answer(request, FORBIDDEN)
