"""The breaker of a model: after three failures in a row it is not called for an hour, then one probe decides.

All of it is called within a transaction that holds the lock of the project (`summary_calls`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ctxweb.jobs import LEASE_SECONDS
from ctxweb.models import Breaker

MOST_FAILURES = 3
OPEN_SECONDS = 3600
NO_FAILURES = ("cancelled", "input_too_long")  # these say nothing about the model: somebody gave up, or asked too much


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerState:
    """`open_until` is None while calls may be made. `is_probing`: its hour is over, and one call of another job finds out."""

    failures: int = 0
    open_until: datetime | None = None
    is_probing: bool = False
    last_code: str = ""

    @property
    def is_closed(self) -> bool:
        return self.open_until is None and not self.is_probing

    @property
    def reason(self) -> str:
        """Why no call is made; empty where one may be."""
        if self.open_until is not None:
            return (
                f"the model failed {self.failures:,} times in a row, last with {self.last_code}, and is not called before "
                f"{self.open_until:%Y-%m-%d %H:%M} UTC: see what is wrong with its server, or use another summarizer"
            )
        return "one call of another job finds out whether the model answers again: ask once it has ended" if self.is_probing else ""


def breaker_state(*, project: str, summarizer: str, model: str, now: datetime) -> BreakerState:
    """Whether the model may be called now."""
    row = Breaker.objects.filter(project_id=project, summarizer=summarizer, model=model).first()
    if row is None or row.open_until is None:
        return BreakerState(failures=0 if row is None else row.failures)
    if row.open_until > now:
        return BreakerState(failures=row.failures, open_until=row.open_until, last_code=row.last_code)
    return BreakerState(
        failures=row.failures, is_probing=row.probing_until is not None and row.probing_until > now, last_code=row.last_code
    )


def breaker_enter(*, project: str, summarizer: str, model: str, now: datetime) -> BreakerState:
    """The state, and where its hour is over, the mark that this call is the probe. Nothing is marked where it may not be called."""
    state = breaker_state(project=project, summarizer=summarizer, model=model, now=now)
    if state.is_closed:
        probing = now + timedelta(seconds=LEASE_SECONDS)  # a probe that never tells is over with its lease
        Breaker.objects.filter(project_id=project, summarizer=summarizer, model=model, open_until__isnull=False).update(
            probing_until=probing, changed_at=now
        )
    return state


def breaker_success(*, project: str, summarizer: str, model: str, now: datetime) -> None:
    """An answer came: the count begins anew."""
    Breaker.objects.filter(project_id=project, summarizer=summarizer, model=model).update(
        failures=0, open_until=None, probing_until=None, last_code="", changed_at=now
    )


def breaker_failure(*, project: str, summarizer: str, model: str, code: str, now: datetime) -> None:
    """A call failed with `code`; the third in a row, and a failed probe, open the breaker for an hour."""
    row, _ = Breaker.objects.get_or_create(project_id=project, summarizer=summarizer, model=model)
    row.probing_until = None
    if code not in NO_FAILURES:
        row.failures += 1
        row.last_code = code
        if row.failures >= MOST_FAILURES:
            row.open_until = now + timedelta(seconds=OPEN_SECONDS)
    row.save()
