"""Who may ask: this machine's user, through a page of this origin or with the machine's own API token."""

import hmac

from django.conf import settings
from django.http import HttpRequest

API_PREFIX = "/api/"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")
OWN_FETCH_SITES = ("same-origin", "none")  # "none": typed, bookmarked or opened by another program
_BEARER = "Bearer "


def is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith(API_PREFIX)


def has_machine_token(request: HttpRequest) -> bool:
    """Whether the request carries the token of `$CTXWEB_HOME/api-token`, compared in constant time."""
    given = request.headers.get("Authorization", "")
    if not given.startswith(_BEARER):
        return False
    return hmac.compare_digest(given.removeprefix(_BEARER).strip().encode(), settings.API_TOKEN.encode())


def is_foreign(request: HttpRequest) -> bool:
    """Whether another origin's page sent this request.

    An unsafe request must come from a page of this origin or from a program, which sends neither header. A safe
    one may also be a person following a link to a page; what another page embeds or fetches is refused.
    """
    origin = request.headers.get("Origin")
    if origin is not None and origin != f"{request.scheme}://{request.get_host()}":
        return True
    if request.headers.get("Sec-Fetch-Site", "none") in OWN_FETCH_SITES:
        return False
    is_followed_link = request.headers.get("Sec-Fetch-Mode") == "navigate" and request.headers.get("Sec-Fetch-Dest") == "document"
    return request.method not in SAFE_METHODS or not is_followed_link
