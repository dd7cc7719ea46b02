"""The JSON twins of the pages, one file a room. A new room is one file and one line in `ROUTERS`."""

from ninja import Router

from ctxweb.api import (
    audit,
    audit_sources,
    checkpoint_differences,
    checkpoints,
    durable,
    durable_preview,
    histories,
    jobs,
    messages,
    replays,
    sessions,
    summaries,
    units,
    verifications,
)
from ctxweb.api.base import make_api

ROUTERS: tuple[Router, ...] = (
    sessions.router,
    messages.router,
    histories.router,
    checkpoints.router,
    checkpoint_differences.router,
    summaries.router,
    replays.router,
    units.router,
    jobs.router,
    durable.router,
    durable_preview.router,
    audit.router,
    audit_sources.router,
    verifications.router,
)

api = make_api()
for router in ROUTERS:
    api.add_router("", router)
