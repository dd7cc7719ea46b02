"""JSON twins of the jobs and of the settings page."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from ninja import Router

from ctxweb.api.paging import MAXIMUM, After, Limit, number_after
from ctxweb.models import LOCAL
from ctxweb.queries.audit import readable_project
from ctxweb.queries.health import Health, health
from ctxweb.queries.jobs import JobDetail, JobsWindow, job_detail, jobs_window
from ctxweb.queries.model_access import ModelAccess, model_access

router = Router(tags=["jobs"])


@router.get("/jobs", response=JobsWindow, summary="Jobs, newest first")
def jobs(request: HttpRequest, state: str = "", after: After = "", limit: Limit = MAXIMUM) -> JobsWindow:
    return jobs_window(state=state, after=number_after(after), limit=limit, now=timezone.now())


@router.get("/jobs/{job_id}", response=JobDetail, summary="State, progress, attempts, error, log")
def job(request: HttpRequest, job_id: str) -> JobDetail:
    return job_detail(public_id=job_id, now=timezone.now())


@router.get("/model-access", response=ModelAccess, summary="Who may write summaries, prices, caps and what was spent of them")
def access(request: HttpRequest) -> ModelAccess:
    return model_access(project=readable_project(project_id=LOCAL))


@router.get("/health", response=Health, summary="Database, queue, tokenizers, store and limits")
def installation(request: HttpRequest) -> Health:
    return health(home=settings.HOME, now=timezone.now())
