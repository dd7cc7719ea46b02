"""Every unsafe route refuses what does not come from a page of ours or from the holder of the machine's token.

The walk takes every address that the program has, so a new route is covered on the day it is added.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver

from ctxweb.access import is_foreign

UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
BODIES = (
    "application/json",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/octet-stream",
)
OWN = "http://127.0.0.1"
FOREIGN = ("http://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1")
FOREIGN_HOSTS = ("evil.example", "127.0.0.1.evil.example", "rebound.127.0.0.1", "", "[::1]evil")
CONVERTER = re.compile(r"<(?:(\w+):)?\w+>")
EXAMPLES = {"int": "1", "str": "a" * 16, None: "a" * 16, "slug": "a" * 16, "path": "a" * 16}


def addresses(resolver: URLResolver, prefix: str = "/") -> Iterator[str]:
    """An address of every URL pattern, with made-up values for its parts."""
    for entry in resolver.url_patterns:
        part = CONVERTER.sub(lambda found: EXAMPLES.get(found.group(1), "a" * 16), str(entry.pattern))
        if isinstance(entry, URLResolver):
            yield from addresses(entry, prefix + part)
        elif isinstance(entry, URLPattern):
            yield prefix + part


ADDRESSES = sorted(set(addresses(get_resolver())))
API = [address for address in ADDRESSES if address.startswith("/api/")]
pytestmark = [pytest.mark.django_db, pytest.mark.nodb]


@pytest.fixture
def browser() -> Client:
    return Client(enforce_csrf_checks=True, headers={"host": "127.0.0.1"})


@pytest.fixture
def token(browser: Client) -> str:
    """The token of a page that this browser has open."""
    browser.cookies[settings.CSRF_COOKIE_NAME] = "t" * 32
    return "t" * 32


def send(browser: Client, method: str, address: str, **headers: str) -> int:
    answer = browser.generic(method, address, b"{}", content_type=headers.pop("content_type", "application/json"), headers=headers)
    return answer.status_code


def test_the_walk_sees_the_api_and_the_pages() -> None:
    assert "/healthz" in ADDRESSES
    assert "/api/v1/openapi.json" in ADDRESSES


@pytest.mark.parametrize("address", ADDRESSES)
def test_without_a_token_an_unsafe_request_is_refused(browser: Client, address: str) -> None:
    for method, content_type in product(UNSAFE, BODIES):
        assert send(browser, method, address, content_type=content_type) == 403, (method, content_type)
        assert send(browser, method, address, content_type=content_type, origin=OWN) == 403, (method, content_type)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_of_another_origin_is_refused_even_with_a_token(browser: Client, token: str, address: str) -> None:
    bearer = f"Bearer {settings.API_TOKEN}"
    for method, origin in product(UNSAFE, FOREIGN):
        assert send(browser, method, address, origin=origin, **{"x-csrftoken": token}) == 403, (method, origin)
        assert send(browser, method, address, origin=origin, authorization=bearer) == 403, (method, origin)
    for method, site in product(UNSAFE, ("cross-site", "same-site")):
        assert send(browser, method, address, **{"x-csrftoken": token, "sec-fetch-site": site}) == 403, (method, site)
        assert send(browser, method, address, **{"sec-fetch-site": site, "authorization": bearer}) == 403, (method, site)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_of_ours_with_its_token_passes(browser: Client, token: str, address: str) -> None:
    browser.raise_request_exception = False
    for method in UNSAFE:
        assert send(browser, method, address, origin=OWN, **{"x-csrftoken": token, "sec-fetch-site": "same-origin"}) != 403, method


@pytest.mark.parametrize("address", API)
def test_the_token_of_this_machine_passes_under_the_api(browser: Client, address: str) -> None:
    browser.raise_request_exception = False
    for method in UNSAFE:
        assert send(browser, method, address, authorization=f"Bearer {settings.API_TOKEN}") != 403, method
    for method, wrong in product(UNSAFE, ("Bearer ", "Bearer wrong", settings.API_TOKEN, f"Basic {settings.API_TOKEN}", "Bearer é")):
        assert send(browser, method, address, authorization=wrong) == 403, (method, wrong)


@pytest.mark.parametrize("address", [address for address in ADDRESSES if not address.startswith("/api/")])
def test_the_token_of_this_machine_opens_no_page(browser: Client, address: str) -> None:
    assert send(browser, "POST", address, authorization=f"Bearer {settings.API_TOKEN}") == 403


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("address", [*ADDRESSES, "/static/none.js", "/nowhere"])
def test_a_foreign_host_is_refused(address: str, debug: bool) -> None:
    with override_settings(DEBUG=debug):
        for method, host in product(("GET", *UNSAFE), FOREIGN_HOSTS):
            answer = Client(enforce_csrf_checks=True).generic(method, address, headers={"host": host})
            assert answer.status_code == 400, (method, host)
            assert not host or host not in answer.content.decode()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8000", "[::1]:8000"])
def test_our_own_names_are_answered(host: str) -> None:
    assert Client(headers={"host": host}).get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("headers", "foreign"),
    [
        ({}, False),
        ({"sec-fetch-site": "none"}, False),
        ({"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}, False),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, False),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}, True),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"}, True),
        ({"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}, True),
        ({"origin": "http://evil.example"}, True),
        ({"origin": OWN}, False),
    ],
)
def test_another_page_may_link_to_ours_but_neither_embed_nor_read_them(rf: Any, headers: dict[str, str], foreign: bool) -> None:
    assert is_foreign(rf.get("/", headers={"host": "127.0.0.1", **headers})) is foreign
