"""Jobs: what is at work, what has ended and how; cancel and retry."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from ctxweb import addresses
from ctxweb import jobs as job_table
from ctxweb.page import counted, frame, show
from ctxweb.queries.imports import RUNNING
from ctxweb.queries.jobs import JobDetail, JobsWindow, job_detail, jobs_window, readable_job
from ctxweb.views import asked
from ctxweb.views.windows import page_rows

STOP_POLLING = 286  # htmx's status for "this is the last answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateLink:
    name: str
    count: int
    address: str
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsPage:
    """A window of jobs, newest first."""

    finding: str
    detail: str
    window: JobsWindow
    states: tuple[StateLink, ...]
    more: str | None
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """One job; while `is_running` its state is asked for again."""

    finding: str
    job: JobDetail
    is_running: bool
    address: str


@require_safe
def jobs(request: HttpRequest) -> HttpResponse:
    state = asked.text(request.GET, "state", longest=10)
    window = jobs_window(state=state, after=asked.number(request.GET, "after"), limit=page_rows(), now=timezone.now())
    running = sum(window.states.get(name, 0) for name in RUNNING)
    failed = window.states.get("failed", 0) + window.states.get("abandoned", 0)
    page = JobsPage(
        finding=f"{counted(running, 'job')} at work or waiting." if running else "No job is at work.",
        detail=f"{failed:,} of {counted(window.total, 'job')} failed." if window.total else "",
        window=window,
        states=tuple(
            StateLink(name=name, count=count, address=addresses.with_query(addresses.JOBS, state=name), chosen=name == state)
            for name, count in window.states.items()
        ),
        more=addresses.with_query(addresses.JOBS, state=state, after=window.next) if window.next else None,
        address=addresses.JOBS,
    )
    twin = addresses.with_query(f"{addresses.API}/jobs", state=state)
    page_frame = frame(request, title=f"({failed:,} failed) Jobs" if failed else "Jobs", section="jobs", json=twin)
    return show(request, template="jobs/page.html", frame=page_frame, page=page, fragments={"jobs-more": "jobs/_rows.html"})


@require_safe
def job(request: HttpRequest, job_id: str) -> HttpResponse:
    """The page of a job, its row in the list, or 204 where `version` says that the reader has this state already."""
    detail = job_detail(public_id=job_id, now=timezone.now())
    if "version" in request.GET and asked.text(request.GET, "version") == str(detail.version):
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    page = JobPage(finding=_finding(detail), job=detail, is_running=detail.state in RUNNING, address=addresses.job(job_id))
    page_frame = frame(request, title=f"{detail.state} · {detail.kind}", section="jobs", json=addresses.api_job(job_id))
    fragments = {"job": "jobs/_job.html", f"j{job_id}": "jobs/_row.html"}
    return show(request, template="jobs/job.html", frame=page_frame, page=page, fragments=fragments)


def _finding(detail: JobDetail) -> str:
    said = {
        "queued": "waits for a worker",
        "leased": "is at work",
        "succeeded": "has succeeded",
        "failed": "has failed; nothing was left half done",
        "cancelled": "was cancelled; nothing was left half done",
        "abandoned": "was given up after repeated starts",
    }
    return f"This {detail.kind.replace('_', ' ')} {said[detail.state]}."


@require_POST
def cancel(request: HttpRequest, job_id: str) -> HttpResponse:
    job_table.job_cancel(job=readable_job(public_id=job_id))
    return HttpResponseRedirect(addresses.job(job_id))


@require_POST
def retry(request: HttpRequest, job_id: str) -> HttpResponse:
    """Queue an ended job again; it goes on from what it committed."""
    found = readable_job(public_id=job_id)
    job_table.job_ring(job=job_table.job_open(kind=found.kind, key=found.key, params=found.params))
    return HttpResponseRedirect(addresses.job(job_id))
