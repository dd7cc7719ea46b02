"""Resolutions for tests, appended as verification does."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from django.test import TestCase

from compaction.sources.resolution import SourceResolution, Status
from ctxweb.models import Project
from ctxweb.services.audit import Appended, resolutions_append

DIGEST = "ab" * 32
DAY = datetime(2026, 10, 1, 9, tzinfo=UTC)


def found(pointer: str, status: Status = "available", reason: str = "verified_artifact") -> SourceResolution:
    digest = DIGEST if status == "available" else None
    return SourceResolution(pointer=pointer, status=status, source_type="artifact", reason=reason, evidence_sha256=digest, excerpt="secret")


def missing(pointer: str) -> SourceResolution:
    return found(pointer, "missing", "artifact_missing")


def append(project: Project, *resolutions: SourceResolution, at: datetime = DAY, actor: str = "schedule", watch: bool = False) -> Appended:
    """As verification appends; what waits for the commit is done, also in a test whose transaction never commits."""
    with TestCase.captureOnCommitCallbacks(execute=True):
        return resolutions_append(
            project=project,
            resolutions=resolutions,
            actor=actor,
            run="run1",
            started_at=at,
            finished_at=at + timedelta(seconds=1),
            only_changes=watch,
        )


def pointers(count: int) -> Iterable[str]:
    return [f"artifact:session:file{number}.txt:{'0' * 12}" for number in range(count)]
