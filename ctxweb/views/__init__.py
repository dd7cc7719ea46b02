"""The pages, one file each; `PAGES` are their addresses."""

from django.urls import URLPattern, URLResolver, path

from ctxweb.views.overview import overview
from ctxweb.views.search import search
from ctxweb.views.sessions import sessions

PAGES: tuple[URLPattern | URLResolver, ...] = (
    path("", sessions, name="sessions"),
    path("search", search, name="search"),
    path("s/<slug:session_id>/", overview, name="overview"),
)
