"""The checkpoints that summary jobs made, with what their model calls cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctxweb.checkpoints.base import Checkpoint
from ctxweb.models import Session, Summary, SummaryCall

MADE = "m"  # in front of the number of a made one
EXTRACTIVE = "extractive"  # it calls no model
FAILED_CALLS = (SummaryCall.State.FAILED, SummaryCall.State.LOST)


def made_checkpoints(session: Session, recorded: Sequence[Checkpoint]) -> Iterator[Checkpoint]:
    rows = list(Summary.objects.filter(session=session.public_id).select_related("body", "job").defer("body__text").order_by("pk"))
    spent = _spent(session) if rows else {}
    keys = {row.pk: f"{MADE}{number}" for number, row in enumerate(rows, 1)}
    of_place = {place: one.key for one in recorded for place in one.places}
    for row in rows:
        parent = keys.get(row.parent_id or 0) or of_place.get(row.parent_place, "")
        yield _from_summary(row, keys[row.pk], parent, spent.get(row.job_id or 0, _NOTHING))


class _Spent(NamedTuple):
    """The model calls of a job: how many, how many failed, and what they cost in nano-dollars (None unknown)."""

    calls: int = 0
    failed: int = 0
    cost: int | None = 0


_NOTHING = _Spent()


def _spent(session: Session) -> dict[int, _Spent]:
    found: dict[int, _Spent] = {}
    rows = SummaryCall.objects.filter(session=session.public_id, job__isnull=False).values_list("job_id", "state", "cost_nano")
    for job, state, cost in rows:
        before = found.get(job or 0, _NOTHING)
        known = None if cost is None or before.cost is None else before.cost + cost
        found[job or 0] = _Spent(before.calls + 1, before.failed + (state in FAILED_CALLS), known)
    return found


def _from_summary(row: Summary, key: str, parent: str, spent: _Spent) -> Checkpoint:
    return Checkpoint(
        key=key,
        id=f"{row.session}-{key}",
        session=row.session,
        origin="made",
        state=row.state,
        trigger=row.trigger,
        from_call=row.from_call,
        to_call=row.to_call,
        blocks=len(row.blocks),
        bodies=(bytes(row.body.digest).hex(),),
        tokens=row.tokens,
        at=row.at,
        parent=parent,
        range_tokens=row.range_tokens,
        size_before=row.view_before,
        size_after=row.view_after,
        summarizer=row.summarizer,
        model=row.model,
        summary=row.public_id,
        reason=row.reason,
        attempts=spent.calls or row.attempt,
        failures=spent.failed,
        cost_nano=spent.cost if spent.calls or row.summarizer == EXTRACTIVE else None,
        job=row.job.public_id if row.job is not None else "",
        shape=row.shape,
        focus=str(row.params.get("focus", "")),
        first_pointer=row.first_pointer,
        last_pointer=row.last_pointer,
        view_sha256=row.view_sha256,
    )
