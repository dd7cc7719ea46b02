"""Imports as the Sessions page shows them: those at work, and those that ended lately."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from ctxweb.models import Job, Revision

KINDS = ("import", "folder")
MOST_SHOWN = 12  # rows
LATELY = timedelta(minutes=10)  # a failed import stays in sight for so long
RUNNING = (Job.State.QUEUED, Job.State.LEASED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRow:
    """One import. `done` of `total` in `unit`; `total` None is unknown. `error` has `code` and `message`."""

    id: str
    name: str
    state: str
    stage: str
    done: int
    total: int | None
    unit: str
    running: bool
    error: dict[str, str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportsPage:
    """`running` of all imports; `more` run or wait beyond the rows. `version` changes whenever a row does."""

    rows: tuple[ImportRow, ...]
    running: int
    more: int
    version: str


def imports_page() -> ImportsPage:
    """Imports at work, then those of which nothing came lately."""
    failed = Q(state__in=(Job.State.FAILED, Job.State.ABANDONED)) | Q(result__outcomes__0__status="failed")
    recent = Q(state__in=RUNNING) | (failed & Q(ended_at__gt=timezone.now() - LATELY))
    jobs = list(Job.objects.filter(recent, kind__in=KINDS).defer("log").order_by("pk")[:MOST_SHOWN])
    running = Job.objects.filter(kind__in=KINDS, state__in=RUNNING).count()
    rows = tuple(_row(job) for job in jobs)
    return ImportsPage(
        rows=rows,
        running=running,
        more=max(running - sum(row.running for row in rows), 0),
        version=f"{running}-{sum(job.version for job in jobs)}",
    )


def _row(job: Job) -> ImportRow:
    error = import_error(job=job)
    return ImportRow(
        id=job.public_id,
        name=str(job.params.get("name", "")),
        state="failed" if error else job.state,
        stage=job.stage,
        done=job.done,
        total=job.total,
        unit=job.unit,
        running=job.state in RUNNING,
        error=error,
    )


def imported_revisions(*, job: Job) -> list[int]:
    """Keys of the revisions that an ended import brought or found, in the order of the file; [] while it runs."""
    return [revision for outcome in _outcomes(job) for revision, _ in outcome.get("revisions", ())]


def imported_sessions(*, job: Job) -> tuple[str, ...]:
    """Public ids of the sessions that an ended import brought or found, in the order of the file; () while it runs."""
    revisions = imported_revisions(job=job)
    found = dict(Revision.objects.filter(pk__in=revisions).values_list("pk", "session__public_id"))
    return tuple(dict.fromkeys(found[revision] for revision in revisions if revision in found))


def import_status(*, job: Job) -> str:
    """`imported`, `updated`, `unchanged` or `failed`: the most that an ended import of a file did; "" where it did nothing."""
    outcomes = _outcomes(job)
    words = {status for outcome in outcomes for _, status in outcome.get("revisions", ())} | {outcome["status"] for outcome in outcomes}
    return next((word for word in ("updated", "imported", "unchanged", "failed") if word in words), "")


def import_error(*, job: Job) -> dict[str, str] | None:
    """`code` and `message` of an import of which nothing came, None for any other."""
    if job.error is not None and job.state not in RUNNING:
        return dict(job.error)
    if import_status(job=job) != "failed":
        return None
    return dict(next(outcome["error"] for outcome in _outcomes(job) if outcome["status"] == "failed"))


def _outcomes(job: Job) -> list[dict[str, Any]]:
    """What became of each member of the file; [] while the import runs."""
    return list(job.result.get("outcomes", ())) if isinstance(job.result, dict) else []
