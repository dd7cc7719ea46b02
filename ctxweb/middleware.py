"""The defences that stand in front of every route, the API and static files included."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware

from ctxweb import addresses
from ctxweb.access import has_machine_token, is_api, is_foreign
from ctxweb.errors import BAD_REQUEST, FORBIDDEN, METHOD_NOT_ALLOWED, TOO_LARGE, error_answer

GetResponse = Callable[[HttpRequest], HttpResponseBase]
UPLOAD_PATHS = (addresses.api_sessions(), addresses.IMPORT)  # their body is a file


def body_limit(path: str) -> int:
    """The largest body, in bytes, that `path` accepts."""
    if path.rstrip("/") in UPLOAD_PATHS:
        return int(settings.CTXWEB_MAX_UPLOAD_BYTES)
    return int(settings.CTXWEB_MAX_POST_BYTES)


def _without_exemption(request: HttpRequest) -> HttpResponseBase:
    """Stands for the view in the CSRF check, which asks it for an exemption only."""
    return HttpResponse()


class IsolationMiddleware:
    """Answer only to our own names and our own pages; a rebound name shows itself only in Host."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._refusal(request) or self.get_response(request)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response

    def _refusal(self, request: HttpRequest) -> HttpResponse | None:
        try:
            request.get_host()
        except DisallowedHost:
            return error_answer(request, BAD_REQUEST)
        return error_answer(request, FORBIDDEN) if is_foreign(request) else None


class BodyLimitMiddleware:
    """Refuse a body by its announced length; `ctxweb.asgi` counts one that announces nothing."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        announced = request.META.get("CONTENT_LENGTH") or "0"
        if not announced.isdecimal() or int(announced) > body_limit(request.path_info):
            return error_answer(request, TOO_LARGE)
        return self.get_response(request)


class UnsafeRequestMiddleware(CsrfViewMiddleware):
    """Every unsafe request needs a page's CSRF token or, under the API, the machine's own token.

    A view marked as exempt is checked like any other: the API framework marks all of its views.
    """

    def process_view(
        self,
        request: HttpRequest,
        callback: Callable[..., HttpResponseBase],
        callback_args: tuple[Any, ...],
        callback_kwargs: dict[str, Any],
    ) -> HttpResponseForbidden | None:
        if is_api(request) and has_machine_token(request):
            return None
        return super().process_view(request, _without_exemption, callback_args, callback_kwargs)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response = super().process_response(request, response)
        if response.status_code == METHOD_NOT_ALLOWED.status and is_api(request):
            answer: HttpResponse = error_answer(request, METHOD_NOT_ALLOWED)
            answer.headers["Allow"] = response.headers.get("Allow", "")
            return answer
        return response
