"""Who says so: there are no accounts on one's own machine, so a name is typed, recorded as claimed, and kept for the next form."""

from __future__ import annotations

from urllib.parse import quote, unquote

from django.http import HttpRequest, HttpResponse

from ctxweb.importers.values import clean_text

COOKIE = "ctxweb_name"
NAMELESS = "page"  # who had a source verified before any name was typed
MOST_CHARS = 200
_YEAR = 365 * 24 * 3600


def known_name(request: HttpRequest) -> str:
    """The name of the last form; empty before the first one."""
    return clean_text(unquote(request.COOKIES.get(COOKIE, ""), errors="replace"))[:MOST_CHARS].strip()


def keep_name(response: HttpResponse, name: str) -> HttpResponse:
    kept = quote(" ".join(name.split())[:MOST_CHARS])
    response.set_cookie(COOKIE, kept, max_age=_YEAR, httponly=True, samesite="Lax")
    return response
