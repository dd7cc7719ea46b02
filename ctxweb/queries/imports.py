"""Imports as the Sessions page shows them: those at work, and those that ended lately."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from ctxweb.models import Job

KIND = "import"
MOST_SHOWN = 12
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
    error: dict[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportsPage:
    """`running` of all imports; `more` run or wait beyond the rows. `version` changes whenever a row does."""

    rows: tuple[ImportRow, ...]
    running: int
    more: int
    version: str


def imports_page() -> ImportsPage:
    """Imports at work, then those that failed lately."""
    recent = Q(state__in=RUNNING) | Q(state__in=(Job.State.FAILED, Job.State.ABANDONED), ended_at__gt=timezone.now() - LATELY)
    jobs = list(Job.objects.filter(recent, kind=KIND).defer("log", "result").order_by("pk")[: MOST_SHOWN + 1])
    running = Job.objects.filter(kind=KIND, state__in=RUNNING).count()
    shown = jobs[:MOST_SHOWN]
    rows = tuple(_row(job) for job in shown)
    return ImportsPage(
        rows=rows,
        running=running,
        more=max(running - sum(row.running for row in rows), 0),
        version=f"{running}-{sum(job.version for job in shown)}",
    )


def _row(job: Job) -> ImportRow:
    return ImportRow(
        id=job.public_id,
        name=str(job.params.get("name", "")),
        state=job.state,
        stage=job.stage,
        done=job.done,
        total=job.total,
        unit=job.unit,
        running=job.state in RUNNING,
        error=job.error,
    )
