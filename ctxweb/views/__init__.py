"""The pages, one file each; `PAGES` are their addresses."""

from django.urls import URLPattern, URLResolver, path

from ctxweb.views.body import body
from ctxweb.views.fate import fate
from ctxweb.views.imports import imports
from ctxweb.views.jobs import cancel, job, jobs, retry
from ctxweb.views.ledger import ledger
from ctxweb.views.messages import messages
from ctxweb.views.overview import overview
from ctxweb.views.replay import replay, replay_change
from ctxweb.views.report import record, report
from ctxweb.views.search import search
from ctxweb.views.sessions import sessions
from ctxweb.views.settings_page import settings_page
from ctxweb.views.view import view
from ctxweb.views.watch import source_badges, source_events

PAGES: tuple[URLPattern | URLResolver, ...] = (
    path("", sessions, name="sessions"),
    path("import", imports, name="import"),
    path("search", search, name="search"),
    path("s/<slug:session_id>/", overview, name="overview"),
    path("s/<slug:session_id>/messages", messages, name="messages"),
    path("s/<slug:session_id>/view/<int:n>", view, name="view"),
    path("s/<slug:session_id>/ledger", ledger, name="ledger"),
    path("s/<slug:session_id>/b/<str:block>", fate, name="fate"),
    path("s/<slug:session_id>/replay", replay, name="replay"),
    path("s/<slug:session_id>/replay/<slug:history_id>", replay_change, name="replay_change"),
    path("s/<slug:session_id>/sources/events", source_events, name="source_events"),
    path("s/<slug:session_id>/sources/badges", source_badges, name="source_badges"),
    path("s/<slug:session_id>/import", report, name="report"),
    path("s/<slug:session_id>/import/<int:number>", record, name="record"),
    path("s/<slug:session_id>/body/<str:digest>", body, name="body"),
    path("jobs", jobs, name="jobs"),
    path("jobs/<slug:job_id>", job, name="job"),
    path("jobs/<slug:job_id>/cancel", cancel, name="job_cancel"),
    path("jobs/<slug:job_id>/retry", retry, name="job_retry"),
    path("settings", settings_page, name="settings"),
)
