"""What every answer carries, and how errors look to a person and to a script."""

import asyncio
import gzip
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.http import Http404, HttpRequest
from django.test import Client, override_settings
from django.urls import path
from ninja.errors import HttpError

from ctxweb.api.base import ApiError, make_api
from ctxweb.asgi import application

pytestmark = [pytest.mark.django_db, pytest.mark.nodb]

CSP = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
}
ADDRESSES = ("/healthz", "/nowhere", "/api/v1/openapi.json", "/api/v1/nowhere")


@pytest.fixture
def browser() -> Client:
    return Client(enforce_csrf_checks=True, headers={"host": "127.0.0.1"})


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_answer_carries_the_strict_headers(browser: Client, address: str) -> None:
    headers = browser.get(address).headers
    assert set(headers["Content-Security-Policy"].split("; ")) == CSP
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert not [name for name in headers if name.startswith("Access-Control")]


def test_refusals_carry_them_too(browser: Client) -> None:
    for answer in (browser.post("/nowhere", headers={"origin": "http://evil.example"}), browser.get("/", headers={"host": "evil.example"})):
        assert answer.status_code in (400, 403)
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_cookies_are_out_of_reach_for_scripts_and_other_sites() -> None:
    assert settings.CSRF_COOKIE_HTTPONLY
    assert settings.CSRF_COOKIE_SAMESITE == "Lax"


@pytest.mark.parametrize(
    "payload", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "%3Cscript%3E", '"><svg onload=alert(1)>']
)
def test_an_error_page_repeats_nothing_of_the_address(browser: Client, payload: str) -> None:
    answer = browser.get(f"/{payload}", {"q": payload})
    assert answer.status_code == 404
    text = answer.content.decode()
    assert "script" not in text
    assert "alert" not in text


def test_api_errors_are_json_of_one_shape(browser: Client) -> None:
    missing = browser.get("/api/v1/nowhere")
    refused = browser.post("/api/v1/openapi.json", b"{}", content_type="application/json")
    assert [answer.status_code for answer in (missing, refused)] == [404, 403]
    for answer in (missing, refused):
        assert set(answer.json()["error"]) == {"code", "message"}


def test_the_api_describes_itself(browser: Client) -> None:
    described = browser.get("/api/v1/openapi.json").json()
    assert described["openapi"].startswith("3.")
    assert "Authorization: Bearer" in described["info"]["description"]


failing_api = make_api(namespace="failing")


@failing_api.get("/{kind}")
def fail(request: HttpRequest, kind: str, number: int) -> None:
    if kind == "own":
        raise ApiError(status=409, code="in_use", message="Cancel the job first.")
    if kind == "refused":
        raise HttpError(403, "Not yours.")
    raise Http404("row 17 of table x")


urlpatterns = [path("api/failing/", failing_api.urls)]


@override_settings(ROOT_URLCONF=__name__)
@pytest.mark.parametrize(
    ("address", "status", "code", "said"),
    [
        ("own?number=1", 409, "in_use", "Cancel the job first."),
        ("refused?number=1", 403, "forbidden", "Not yours."),
        ("missing?number=1", 404, "not_found", "The address is wrong"),
        ("own?number=secret", 422, "invalid", "number"),
    ],
)
def test_a_room_answers_with_its_status_code_and_sentence(browser: Client, address: str, status: int, code: str, said: str) -> None:
    answer = browser.get(f"/api/failing/{address}")
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code
    assert said in answer.json()["error"]["message"]
    assert "secret" not in answer.content.decode()
    assert "row 17" not in answer.content.decode()


@override_settings(ROOT_URLCONF=__name__)
def test_a_method_that_a_room_has_not_is_answered_in_the_same_shape(browser: Client) -> None:
    answer = browser.post("/api/failing/own", headers={"authorization": f"Bearer {settings.API_TOKEN}"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET"


@pytest.mark.parametrize(("size", "status"), [(99, 404), (100, 404), (101, 413)])
def test_a_body_is_refused_one_byte_above_its_limit(browser: Client, size: int, status: int) -> None:
    with override_settings(CTXWEB_MAX_POST_BYTES=100):
        browser.cookies[settings.CSRF_COOKIE_NAME] = "t" * 32
        answer = browser.post("/nowhere", b"x" * size, content_type="text/plain", headers={"x-csrftoken": "t" * 32})
    assert answer.status_code == status


@pytest.mark.parametrize("path", ["/api/v1/sessions", "/import"])
def test_a_file_may_be_larger_than_another_body(browser: Client, path: str) -> None:
    with override_settings(CTXWEB_MAX_POST_BYTES=100, CTXWEB_MAX_UPLOAD_BYTES=1000):
        assert browser.post(path, b"x" * 1000, content_type="text/plain").status_code != 413
        assert browser.post(path, b"x" * 1001, content_type="text/plain").status_code == 413


def asgi_answer(chunks: list[bytes], headers: list[tuple[bytes, bytes]], path: str = "/api/v1/nowhere") -> tuple[int, int]:
    """The status of an answer through ASGI, and how many chunks of the body were read for it."""
    read = 0
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        nonlocal read
        if read >= len(chunks):
            await asyncio.sleep(3600)
        read += 1
        return {"type": "http.request", "body": chunks[read - 1], "more_body": read < len(chunks)}

    async def send(message: Any) -> None:
        sent.append(message)

    own_headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {settings.API_TOKEN}".encode())]
    scope: dict[str, Any] = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http"}
    scope |= {"path": path, "query_string": b"", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1)}
    asyncio.run(application({**scope, "headers": [*own_headers, *headers]}, receive, send))
    return sent[0]["status"], read


@override_settings(CTXWEB_MAX_POST_BYTES=100)
def test_a_body_without_an_announced_length_is_read_no_further_than_its_limit() -> None:
    assert asgi_answer([b"x" * 50, b"x" * 50], []) == (404, 2)
    assert asgi_answer([b"x" * 50] * 1000, []) == (413, 3)


@override_settings(CTXWEB_MAX_POST_BYTES=100)
def test_a_body_that_is_announced_too_long_is_not_read_at_all() -> None:
    assert asgi_answer([b"x" * 50] * 1000, [(b"content-length", b"50000")]) == (413, 0)
    assert asgi_answer([b"x" * 50] * 1000, [(b"content-length", b"10")]) == (413, 3)


def test_the_content_encoding_of_a_request_is_ignored(rf: Any) -> None:
    packed = gzip.compress(b"x" * 100_000)
    request = rf.post("/", packed, content_type="application/octet-stream", headers={"content-encoding": "gzip"})
    assert request.read() == packed


def test_a_fault_of_ours_shows_no_detail(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("a detail")

    monkeypatch.setattr("ctxweb.health.connection", SimpleNamespace(cursor=broken))
    answer = Client(headers={"host": "127.0.0.1"}, raise_request_exception=False).get("/healthz")
    assert answer.status_code == 500
    assert "a detail" not in answer.content.decode()
