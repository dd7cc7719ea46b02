"""Every address pattern of the product, and which of them a list of addresses reaches."""

from __future__ import annotations

from collections.abc import Iterable

from django.urls import URLPattern, get_resolver, resolve

from ctxweb.api import api
from ctxweb.views import PAGES

API = "api/v1/"
DOCUMENT = "/api/v1/openapi.json"


def page_names() -> set[str]:
    """The names of all page patterns, as the resolver has them."""
    names = {pattern.name or "" for pattern in PAGES if isinstance(pattern, URLPattern)}
    served = {pattern.name for pattern in get_resolver().url_patterns if isinstance(pattern, URLPattern)}
    assert served == names | {"healthz"}, "a page is served that is not in PAGES"
    return names


def twin_routes() -> set[str]:
    """The routes of the API that GET answers, `sessions/{session_id}`, as the router has them."""
    return {route for route, methods in api_routes().items() if "GET" in methods}


def api_routes() -> dict[str, set[str]]:
    """Route of the API: methods that it answers."""
    found: dict[str, set[str]] = {}
    for _, router in api._routers:
        for path, view in router.path_operations.items():
            found.setdefault(path.strip("/"), set()).update(method for operation in view.operations for method in operation.methods)
    return found


def route_of(address: str) -> str:
    """The API route that serves an address, `sessions/{session_id}`."""
    route = resolve(address.partition("?")[0]).route.removeprefix(API)
    return route.replace("<int:", "{").replace("<", "{").replace(">", "}").strip("/")


def name_of(address: str) -> str:
    """The name of the page pattern that serves an address."""
    return resolve(address.partition("?")[0]).url_name or ""


def unreached_pages(addresses: Iterable[str]) -> set[str]:
    return page_names() - {name_of(address) for address in addresses}


def unreached_twins(addresses: Iterable[str]) -> set[str]:
    return twin_routes() - {route_of(address) for address in addresses}
