"""Jobs as people follow them: state, progress, what is left, what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from django.db.models import Count, QuerySet
from django.http import Http404

from ctxweb.models import Job, Revision
from ctxweb.queries.imports import RUNNING, import_error, imported_revisions, imported_sessions
from ctxweb.queries.summary_jobs import SummaryJob, summary_job

RETRYABLE = (Job.State.FAILED, Job.State.CANCELLED, Job.State.ABANDONED)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """One job. `done` of `total` is in `unit`; `rate` in units a second, over the whole run, and
    `seconds_left` are None unless it is at work and both are known. An import that succeeded found sessions in the records
    of its sources; None for any other."""

    id: str
    kind: str
    name: str
    state: str
    stage: str
    done: int
    total: int | None
    unit: str
    rate: float | None
    seconds_left: float | None
    attempts: int
    cancel_requested: bool
    error: dict[str, str] | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    version: int
    sessions_found: int | None
    records_read: int | None
    can_cancel: bool
    can_retry: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsWindow:
    """`matching` of `total` jobs, newest first; `states` counts all by state."""

    total: int
    matching: int
    states: dict[str, int]
    jobs: tuple[JobRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    at: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDetail(JobRow):
    """A job with its log and, once it has ended, its result and the sessions that an import brought or found. `summary` is the
    part that only a summary has."""

    sessions: tuple[str, ...]
    log: tuple[LogLine, ...]
    result: Any
    summary: SummaryJob | None


def jobs_window(*, state: str, after: int | None, limit: int, now: datetime) -> JobsWindow:
    """The newest `limit` jobs in `state` (empty: all) behind the row `after`."""
    jobs = Job.objects.filter(state=state) if state else Job.objects.all()
    window = list((jobs.filter(pk__lt=after) if after is not None else jobs).defer("log").order_by("-pk")[: limit + 1])
    shown = window[:limit]
    states = dict(Job.objects.values_list("state").annotate(Count("pk")).order_by("state"))
    total = sum(states.values())
    return JobsWindow(
        total=total,
        matching=states.get(state, 0) if state else total,
        states=states,
        jobs=_job_rows(shown, now),
        next=str(shown[-1].pk) if len(window) > limit else None,
    )


def readable_job(*, public_id: str) -> Job:
    """Raises Http404."""
    job = Job.objects.filter(public_id=public_id).first()
    if job is None:
        raise Http404
    return job


def job_detail(*, public_id: str, now: datetime) -> JobDetail:
    """Raises Http404."""
    job = readable_job(public_id=public_id)
    (row,) = _job_rows([job], now)
    log = tuple(LogLine(at=str(entry["at"]), line=str(entry["line"])) for entry in job.log)
    return JobDetail(
        **{field.name: getattr(row, field.name) for field in fields(JobRow)},
        sessions=imported_sessions(job=job),
        log=log,
        result=job.result,
        summary=summary_job(job=job),
    )


def last_finished() -> QuerySet[Job]:
    """Jobs that succeeded, the last first: the queue works when one of them is recent."""
    return Job.objects.filter(state=Job.State.SUCCEEDED, ended_at__isnull=False).order_by("-ended_at")


def _job_rows(jobs: Sequence[Job], now: datetime) -> tuple[JobRow, ...]:
    """`jobs` as they stand at `now`."""
    keys = {job.pk: set(imported_revisions(job=job)) for job in jobs if job.state == Job.State.SUCCEEDED}
    revisions = Revision.objects.filter(pk__in=set().union(*keys.values())).select_related("source")
    found = {revision.pk: revision for revision in revisions}
    return tuple(_job_row(job, [found[key] for key in keys.get(job.pk, ()) if key in found], now) for job in jobs)


def _job_row(job: Job, found: Sequence[Revision], now: datetime) -> JobRow:
    rate = _rate(job, now)
    left = (job.total - job.done) / rate if rate and job.total is not None and job.state == Job.State.LEASED else None
    return JobRow(
        **{field.name: getattr(job, field.name) for field in fields(JobRow) if field.name in _COPIED},
        id=job.public_id,
        name=str(job.params.get("name", "")),
        attempts=job.attempt,
        sessions_found=len({revision.session_id for revision in found}) or None,
        records_read=sum({revision.source_id: revision.source.record_count for revision in found}.values()) or None,
        rate=rate,
        seconds_left=left,
        error=import_error(job=job),
        can_cancel=job.state in RUNNING and not job.cancel_requested,
        can_retry=job.state in RETRYABLE,
    )


_COPIED = {field.name for field in fields(JobRow)} & {field.name for field in Job._meta.get_fields()} - {"id", "error"}


def _rate(job: Job, now: datetime) -> float | None:
    if job.started_at is None or not job.done or job.state != Job.State.LEASED:
        return None
    seconds = (now - job.started_at).total_seconds()
    return job.done / seconds if seconds > 0 else None
