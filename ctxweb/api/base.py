"""The API object: one error format, no HTML docs page, every figure in the words of the pages."""

from collections.abc import Callable
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from compaction.errors import DurableError
from ctxweb.errors import NOT_FOUND, error_answer, error_json
from ctxweb.services.durable_versions import VersionMoved


class ApiError(Exception):
    """An answer with `status` and `{"error": {"code", "message"}}`; the message says what to do, without transcript text."""

    def __init__(self, *, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


def make_api(*, namespace: str = "api") -> NinjaAPI:
    """An API without rooms; access is checked in `ctxweb.middleware`, for every route alike."""
    api = NinjaAPI(
        title="ctxweb",
        version="1",
        urls_namespace=namespace,
        docs_url=None,
        description="POST, PUT, PATCH and DELETE need the token of `$CTXWEB_HOME/api-token` as `Authorization: Bearer TOKEN`.",
    )
    for kind, answer in ERROR_ANSWERS:
        api.add_exception_handler(kind, answer)
    return api


def _api_error(request: HttpRequest, error: ApiError) -> HttpResponse:
    return error_json(status=error.status, code=error.code, message=error.message)


def _missing(request: HttpRequest, error: Http404) -> HttpResponse:
    return error_answer(request, NOT_FOUND)


def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    return error_json(status=error.status_code, code=code, message=str(error))


def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Name each field and what is wrong with it; its value is not repeated."""
    faults = "; ".join(f"{'.'.join(str(part) for part in fault['loc'][1:])}: {fault['msg']}" for fault in error.errors)
    return error_json(status=HTTPStatus.UNPROCESSABLE_ENTITY, code="invalid", message=faults)


def _durable_error(request: HttpRequest, error: DurableError) -> HttpResponse:
    """Name the place and the field; what was given is not repeated."""
    field = error.figures.get("field", "")
    place = ".".join(part for part in (error.place, field) if part and part not in str(error).split(" ", 1)[0]) or error.place
    item = error.figures.get("id", "")
    where = f"{place}: " if place else f"{error.figures['domain']} {item[:80]!r}: " if item and "domain" in error.figures else ""
    return error_json(status=HTTPStatus.UNPROCESSABLE_ENTITY, code=error.code, message=f"{where}{error}")


def _version_moved(request: HttpRequest, error: VersionMoved) -> HttpResponse:
    return error_json(status=HTTPStatus.PRECONDITION_FAILED, code="version_moved", message=str(error))


ERROR_ANSWERS: tuple[tuple[type[Exception], Callable[..., HttpResponse]], ...] = (
    (ApiError, _api_error),
    (Http404, _missing),
    (HttpError, _http_error),
    (ValidationError, _invalid),
    (DurableError, _durable_error),
    (VersionMoved, _version_moved),
)
