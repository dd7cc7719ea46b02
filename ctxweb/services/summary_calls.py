"""The model calls of summary jobs: reserved before they are made, settled after, so that no cap and no budget can be passed.

A row is written before its call. One that no answer followed is lost: it counts as spent, as reserved, and as one of the two calls
that a job has. Reservation, caps and breaker are one transaction under the lock of the project.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from ctxweb.models import Job, Project, SummaryCall
from ctxweb.services.summary_breaker import breaker_enter, breaker_failure, breaker_success

NANO = 10**9
MOST_CALLS = 2  # of a job from its opening to its end, whatever they are repeated for
LOST = "lost"


class CallRefused(Exception):
    """A call that may not be made. `code` is for programs, the message says what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAsked:
    """A call that is to be made: of which model, how large, and the most that it can cost in nano-dollars."""

    summarizer: str
    model: str
    shape: str
    input_tokens: int
    input_exact: bool
    most_output_tokens: int
    nano: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CapsLeft:
    """What may still be spent, in nano-dollars: for the session, for its project today (UTC), for its project at all."""

    session: int
    day: int
    project: int


def caps_left(*, project: str, session: str, now: datetime) -> CapsLeft:
    """What calls in flight reserved, and what lost ones did, is spent."""
    of_project = SummaryCall.objects.filter(project_id=project)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return CapsLeft(
        session=_cap("SESSION") - _spent(of_project.filter(session=session)),
        day=_cap("DAY") - _spent(of_project.filter(started_at__gte=today)),
        project=_cap("PROJECT") - _spent(of_project),
    )


def cap_refusal(*, left: CapsLeft, nano: int) -> CallRefused | None:
    """Why a call that can cost `nano` may not be made; None where it may."""
    for name, rest, what in (("SESSION", left.session, "session"), ("DAY", left.day, "day"), ("PROJECT", left.project, "project")):
        if nano > rest:
            message = (
                f"the call can cost ${nano / NANO:.4f} and ${max(0, rest) / NANO:.4f} are left of the cap of this {what}: summarise less, "
                f"use the extract, or raise CTXWEB_SUMMARY_{name}_CAP_USD"
            )
            return CallRefused(f"{what}_cap", message)
    return None


def codes_of_round(*, job: Job) -> list[str]:
    """How each call ended that the job has made since it was last opened; "" of one in flight, and of one whose answer was kept."""
    return list(SummaryCall.objects.filter(_of_round(job), job=job).order_by("number").values_list("code", flat=True))


def call_reserve(*, job: Job, asked: CallAsked, now: datetime | None = None) -> SummaryCall:
    """Write the row of a call that is about to be made; within the caller's transaction. Raises CallRefused, and then nothing
    may be kept of that transaction."""
    now = now or timezone.now()
    project, session = str(job.params["project"]), str(job.params["session"])
    Project.objects.select_for_update().get(pk=project)
    made = codes_of_round(job=job)
    if len(made) >= MOST_CALLS:
        ended = ", then ".join(code.replace("_", " ") or "no end" for code in made)
        raise CallRefused(
            "no_calls_left", f"{len(made)} calls were made and none gave a summary ({ended}): start it again once that is mended"
        )
    refusal = cap_refusal(left=caps_left(project=project, session=session, now=now), nano=asked.nano)
    if refusal is not None:
        raise refusal
    state = breaker_enter(project=project, summarizer=asked.summarizer, model=asked.model, now=now)
    if not state.is_closed:
        raise CallRefused("breaker_open", state.reason)
    return SummaryCall.objects.create(
        project_id=project,
        session=session,
        job=job,
        number=SummaryCall.objects.filter(job=job).count() + 1,
        attempt=job.attempt,
        summarizer=asked.summarizer,
        model=asked.model,
        shape=asked.shape,
        input_tokens=asked.input_tokens,
        input_exact=asked.input_exact,
        most_output_tokens=asked.most_output_tokens,
        reserved_nano=asked.nano,
        started_at=now,
    )


def call_answered(*, call: SummaryCall, usage: Mapping[str, Any], cost_nano: int | None, request_id: str = "", code: str = "") -> None:
    """An answer came, in time or not: what it cost is known, or stays as reserved. `code` says what was odd about it."""
    with _locked(call):
        _settle(call, SummaryCall.State.ANSWERED, usage=dict(usage), cost_nano=cost_nano, request_id=request_id[:200], code=code)
        breaker_success(project=call.project_id, summarizer=call.summarizer, model=call.model, now=timezone.now())


def call_failed(
    *,
    call: SummaryCall,
    code: str,
    message: str,
    status: int | None = None,
    retry_after: float | None = None,
    usage: Mapping[str, Any] | None = None,
    cost_nano: int | None = None,
) -> None:
    """The call failed. `cost_nano` None: nobody said what it cost, so what was reserved counts."""
    told = {"status": status, "message": message, "retry_after": retry_after, "usage": dict(usage or {}), "cost_nano": cost_nano}
    with _locked(call):
        _settle(call, SummaryCall.State.FAILED, code=code, **told)
        breaker_failure(project=call.project_id, summarizer=call.summarizer, model=call.model, code=code, now=timezone.now())


def calls_lose(*, job: Job) -> None:
    """The calls of earlier runs of the job of which nothing was heard are lost."""
    _lose(SummaryCall.objects.filter(job=job, attempt__lt=job.attempt), timezone.now())


def calls_lost(*, job: Job) -> list[int]:
    """The numbers of the calls that the run before this one lost."""
    lost = SummaryCall.objects.filter(job=job, attempt=job.attempt - 1, state=SummaryCall.State.LOST)
    return list(lost.order_by("number").values_list("number", flat=True))


def call_judged(*, call: SummaryCall, code: str) -> None:
    """What was wrong with the summary that the call gave."""
    SummaryCall.objects.filter(pk=call.pk).update(code=code)


def calls_sweep() -> int:
    """Calls whose run is over without having told of them are lost; returns how many."""
    at_work = Q(job__state=Job.State.LEASED, job__attempt=F("attempt"))
    return _lose(SummaryCall.objects.exclude(at_work), timezone.now())


def _of_round(job: Job) -> Q:
    return Q(started_at__gte=job.started_at) if job.started_at is not None else Q()


def _lose(calls: Any, now: datetime) -> int:
    lost = {"state": SummaryCall.State.LOST, "code": LOST, "ended_at": now}
    keys = list(calls.filter(state=SummaryCall.State.RESERVED).values_list("pk", flat=True))
    return int(SummaryCall.objects.filter(pk__in=keys, state=SummaryCall.State.RESERVED).update(**lost)) if keys else 0


def _settle(call: SummaryCall, state: str, **changes: Any) -> None:
    """Only what nobody settled yet: a lost one may still be told of."""
    unsettled = SummaryCall.objects.filter(pk=call.pk, state__in=(SummaryCall.State.RESERVED, SummaryCall.State.LOST))
    unsettled.update(state=state, ended_at=timezone.now(), **changes)


@contextmanager
def _locked(call: SummaryCall) -> Iterator[None]:
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=call.project_id)
        yield


def _spent(calls: Any) -> int:
    return calls.aggregate(spent=Sum(Coalesce("cost_nano", "reserved_nano")))["spent"] or 0


def _cap(name: str) -> int:
    return int(Decimal(str(getattr(settings, f"CTXWEB_SUMMARY_{name}_CAP_USD"))) * NANO)
