"""All sources of a project with their last look."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router

from ctxweb.api.paging import MAXIMUM, After, Limit, number_after
from ctxweb.models import LOCAL
from ctxweb.queries.audit import readable_project
from ctxweb.queries.audit_sources import AuditSources, audit_sources

router = Router(tags=["audit"])


@router.get("/audit/sources", response=AuditSources, summary="The sources of a project, the worst first")
def sources(
    request: HttpRequest, project: str = LOCAL, status: str = "", session: str = "", after: After = "", limit: Limit = MAXIMUM
) -> AuditSources:
    found = readable_project(project_id=project)
    return audit_sources(project=found, status=status, session=session, after=number_after(after) or 0, limit=limit)
