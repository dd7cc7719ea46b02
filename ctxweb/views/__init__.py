"""The pages, one file each; `PAGES` are their addresses."""

from django.urls import URLPattern, URLResolver, path

from ctxweb.views.audit import audit, audit_sign_off, audit_verify
from ctxweb.views.audit_entries import audit_drift, audit_entries
from ctxweb.views.body import body
from ctxweb.views.checkpoint import checkpoint
from ctxweb.views.checkpoint_diff import checkpoint_diff
from ctxweb.views.checkpoint_range import checkpoint_range
from ctxweb.views.checkpoints import checkpoints
from ctxweb.views.comparison import comparison
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
from ctxweb.views.source_edit import source_edit
from ctxweb.views.source_keep import source_keep
from ctxweb.views.source_preview import source_preview
from ctxweb.views.source_proposals import source_proposal
from ctxweb.views.source_versions import source_version, source_versions
from ctxweb.views.sources import source_verify, sources
from ctxweb.views.summarise import summarise
from ctxweb.views.units import units
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
    path("s/<slug:session_id>/checkpoints", checkpoints, name="checkpoints"),
    path("s/<slug:session_id>/checkpoints/<slug:key>", checkpoint, name="checkpoint"),
    path("s/<slug:session_id>/checkpoints/<slug:key>/range", checkpoint_range, name="checkpoint_range"),
    path("s/<slug:session_id>/checkpoints/<slug:old>..<slug:new>", checkpoint_diff, name="checkpoint_diff"),
    path("s/<slug:session_id>/summarise", summarise, name="summarise"),
    path("s/<slug:session_id>/summarise/<slug:old>..<slug:new>", comparison, name="comparison"),
    path("s/<slug:session_id>/replay", replay, name="replay"),
    path("s/<slug:session_id>/replay/<slug:history_id>", replay_change, name="replay_change"),
    path("s/<slug:session_id>/units", units, name="units"),
    path("s/<slug:session_id>/sources", sources, name="sources"),
    path("s/<slug:session_id>/sources/verify", source_verify, name="source_verify"),
    path("s/<slug:session_id>/sources/edit", source_edit, name="source_edit"),
    path("s/<slug:session_id>/sources/preview", source_preview, name="source_preview"),
    path("s/<slug:session_id>/sources/proposals/<int:number>", source_proposal, name="source_proposal"),
    path("s/<slug:session_id>/sources/versions", source_versions, name="source_versions"),
    path("s/<slug:session_id>/sources/versions/<int:number>", source_version, name="source_version"),
    path("s/<slug:session_id>/keep/<str:block>", source_keep, name="source_keep"),
    path("s/<slug:session_id>/sources/events", source_events, name="source_events"),
    path("s/<slug:session_id>/sources/badges", source_badges, name="source_badges"),
    path("s/<slug:session_id>/import", report, name="report"),
    path("s/<slug:session_id>/import/<int:number>", record, name="record"),
    path("s/<slug:session_id>/body/<str:digest>", body, name="body"),
    path("audit", audit, name="audit"),
    path("audit/drift", audit_drift, name="audit_drift"),
    path("audit/entries", audit_entries, name="audit_entries"),
    path("audit/sign-off", audit_sign_off, name="audit_sign_off"),
    path("audit/verify", audit_verify, name="audit_verify"),
    path("jobs", jobs, name="jobs"),
    path("jobs/<slug:job_id>", job, name="job"),
    path("jobs/<slug:job_id>/cancel", cancel, name="job_cancel"),
    path("jobs/<slug:job_id>/retry", retry, name="job_retry"),
    path("settings", settings_page, name="settings"),
)
