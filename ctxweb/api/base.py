"""The API object: one error format, no HTML docs page, every figure in the words of the pages."""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.parser import Parser

from compaction.errors import DurableError
from compaction.typed_json import shown
from ctxweb.errors import NOT_FOUND, error_answer, error_json
from ctxweb.services.durable_versions import VersionMoved

MOST_FAULTS = 20  # that one answer names
BODY = "The body must be one JSON object in UTF-8; /api/v1/openapi.json describes its fields."


class ApiError(Exception):
    """An answer with `status` and `{"error": {"code", "message"}}`; the message says what to do, without transcript text."""

    def __init__(self, *, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


class ObjectParser(Parser):
    """Bodies are JSON objects. What is none is refused before anybody looks for fields in it: a list has a `count` of its own."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        try:
            given = json.loads(request.body)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
        if not isinstance(given, dict):
            raise ValueError("no object")
        return given


def make_api(*, namespace: str = "api") -> NinjaAPI:
    """An API without rooms; access is checked in `ctxweb.middleware`, for every route alike."""
    api = NinjaAPI(
        parser=ObjectParser(),
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
    if error.status_code == HTTPStatus.BAD_REQUEST and isinstance(error.__cause__, ValueError):  # of the parser
        return error_json(status=HTTPStatus.BAD_REQUEST, code="bad_body", message=f"{_place(error.__cause__)}{BODY}")
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    return error_json(status=error.status_code, code=code, message=str(error))


def _place(unread: ValueError) -> str:
    """Where a body stops being JSON; nothing of the body itself."""
    return f"Line {unread.lineno}, column {unread.colno}: {unread.msg}. " if isinstance(unread, json.JSONDecodeError) else ""


def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Name each field and what is wrong with it; its value is not repeated."""
    faults = [f"{'.'.join(shown(str(part)) for part in fault['loc'][1:])}: {fault['msg']}" for fault in error.errors]
    more = f"; and {len(faults) - MOST_FAULTS:,} more" if len(faults) > MOST_FAULTS else ""
    return error_json(status=HTTPStatus.UNPROCESSABLE_ENTITY, code="invalid", message="; ".join(faults[:MOST_FAULTS]) + more)


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
