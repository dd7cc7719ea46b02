"""What a summary job did: each call of a model with its reason and its money, and the checkpoint that came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from ctxweb.checkpoints.made import MADE
from ctxweb.models import Job, Summary, SummaryCall

KIND = "summary"
BUCKETS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryCallRow:
    """One call. `input_tokens` is what was counted or (not `input_exact`) estimated before it, `usage` what the provider reported, by
    bucket. Money in nano-dollars: `reserved_nano` before the call, `cost_nano` after it, None where nobody said."""

    number: int
    attempt: int
    state: str
    summarizer: str
    model: str
    shape: str
    input_tokens: int
    input_exact: bool
    most_output_tokens: int
    reserved_nano: int | None
    cost_nano: int | None
    usage: dict[str, int | None]
    code: str
    status: int | None
    message: str
    retry_after: float | None
    request_id: str
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryJob:
    """The part of a job that only a summary has. `spent_nano` counts what is not settled as it was reserved, and is None where a call
    has no known price. `checkpoint` is the key of what came of it, empty before that; `state` that of the checkpoint."""

    session: str
    from_call: int | None
    to_call: int | None
    summarizer: str
    model: str
    shape: str
    focus: str
    canaries: int
    calls: tuple[SummaryCallRow, ...]
    spent_nano: int | None
    seconds: float | None
    checkpoint: str
    state: str


def summary_job(*, job: Job) -> SummaryJob | None:
    """None for a job of another kind."""
    if job.kind != KIND:
        return None
    asked: dict[str, Any] = job.params["asked"]
    calls = list(SummaryCall.objects.filter(job=job).order_by("number"))
    made = Summary.objects.filter(job=job).order_by("-pk").first()
    return SummaryJob(
        session=job.params["session"],
        from_call=asked["from_call"],
        to_call=asked["to_call"],
        summarizer=asked["summarizer"],
        model=job.params["model"],
        shape=asked["shape"] if job.params["model"] else "",
        focus=asked["focus"],
        canaries=asked["canaries"],
        calls=tuple(map(_call_row, calls)),
        spent_nano=_spent(calls),
        seconds=(job.ended_at - job.started_at).total_seconds() if job.started_at and job.ended_at else None,
        checkpoint=_key(made) if made is not None else "",
        state=made.state if made is not None else "",
    )


def _call_row(call: SummaryCall) -> SummaryCallRow:
    copied = {field.name: getattr(call, field.name) for field in fields(SummaryCallRow) if field.name != "usage"}
    return SummaryCallRow(**copied, usage={bucket: call.usage.get(bucket) for bucket in BUCKETS})


def _spent(calls: Sequence[SummaryCall]) -> int | None:
    costs = [call.reserved_nano if call.cost_nano is None else call.cost_nano for call in calls]
    return None if any(cost is None for cost in costs) else sum(cost or 0 for cost in costs)


def _key(summary: Summary) -> str:
    return f"{MADE}{Summary.objects.filter(session=summary.session, pk__lte=summary.pk).count()}"
