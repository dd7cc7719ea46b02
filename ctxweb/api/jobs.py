"""JSON twins of the jobs and of the health page."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from ninja import Router

from ctxweb.api.paging import MAXIMUM, After, Limit, number_after
from ctxweb.queries.health import Health, health
from ctxweb.queries.jobs import JobDetail, JobsWindow, job_detail, jobs_window

router = Router(tags=["jobs"])


@router.get("/jobs", response=JobsWindow, summary="Jobs, newest first")
def jobs(request: HttpRequest, state: str = "", after: After = "", limit: Limit = MAXIMUM) -> JobsWindow:
    return jobs_window(state=state, after=number_after(after), limit=limit, now=timezone.now())


@router.get("/jobs/{job_id}", response=JobDetail, summary="State, progress, attempts, error, log")
def job(request: HttpRequest, job_id: str) -> JobDetail:
    return job_detail(public_id=job_id, now=timezone.now())


@router.get("/health", response=Health, summary="Database, queue, tokenizers, store and limits")
def installation(request: HttpRequest) -> Health:
    return health(home=settings.HOME, now=timezone.now())
