"""Bytes of a session as a download: never opened by the browser, under a plain name."""

from __future__ import annotations

from django.http.response import HttpResponseBase


def as_download(response: HttpResponseBase, *, name: str) -> HttpResponseBase:
    """`response` as an attachment called `name`, which the caller has made of letters, digits, `.` and `-` only."""
    response.headers["Content-Type"] = "application/octet-stream"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response
