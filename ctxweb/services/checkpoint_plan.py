"""What a summary would take and cost, before anything is asked or written: the dry run, and the first step of the work."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from compaction.errors import EditError
from ctxweb.models import History, ModelCall, Record, Revision, Session
from ctxweb.recorded_view import recorded_view
from ctxweb.services.summary_asked import EXTRACTIVE, Problem, SummaryAsked, SummaryRefused
from ctxweb.services.summary_breaker import BreakerState
from ctxweb.services.summary_calls import CapsLeft
from ctxweb.services.summary_cost import model_plan
from ctxweb.services.summary_prefix import RecordedPrompt
from ctxweb.services.summary_prompts import prompt_version
from ctxweb.services.summary_range import SummaryRange, incremental_range, summary_range

__all__ = ["Planned", "Problem", "SummaryAsked", "SummaryPlan", "SummaryRefused", "summary_plan", "summary_planned"]

EXTRACT_VERSION = "extract-1"
LEAST_RANGE_TOKENS = 200  # a smaller range leaves a summary no room


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPlan:
    """What a summary would stand for. It can run where there are no `problems`.

    `from_call` … `to_call` are resolved; `blocks` are places `SEQ.I` in the order of the view. Sizes are exact tokens under the
    session's encoding. `parent`: the public id of the made checkpoint that it is merged with, `parent_place` the place of a recorded one.

    Of a summarizer that asks a model: `input_tokens` (≈) of its prompt, the most that one call can cost in nano-dollars (None where no
    price is known), what is left of the caps, and its breaker.
    """

    session: str
    revision: int
    asked: SummaryAsked
    from_call: int
    to_call: int
    blocks: tuple[str, ...]
    messages: int
    records: int
    range_tokens: int
    fresh_tokens: int
    view_tokens: int
    first_pointer: str
    last_pointer: str
    range_sha256: str
    view_sha256: str
    is_moved: bool
    parent: str
    parent_place: str
    is_model: bool
    model: str
    shape: str
    prompt_version: str
    input_tokens: int
    cost_nano: int | None
    caps_left: CapsLeft | None
    breaker: BreakerState | None
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A plan with what it was made of. `recorded` is the prompt that shape `prefix` sends."""

    plan: SummaryPlan
    range: SummaryRange
    revision: Revision
    recorded: RecordedPrompt | None


def summary_plan(*, session: Session, asked: SummaryAsked) -> SummaryPlan:
    """The plan; nothing is written and nobody is asked. Raises SummaryRefused for what can never be."""
    return summary_planned(session=session, asked=asked).plan


def summary_planned(*, session: Session, asked: SummaryAsked) -> Planned:
    """The plan, and what the work goes on with."""
    revision = session.current
    if revision is None:
        raise SummaryRefused("the session has no published reading: import it again", field="session")
    to_call = _to_call(revision, asked)
    if asked.from_call is not None and not 1 <= asked.from_call <= to_call:
        raise SummaryRefused(f"from_call is {asked.from_call:,}: give 1 to {to_call:,}", field="from_call")
    found = _range(session, revision, asked, to_call)
    records = _records(revision, found)
    model = model_plan(session=session, revision=revision, asked=asked, found=found)
    plan = SummaryPlan(
        session=session.public_id,
        revision=revision.pk,
        asked=asked,
        from_call=asked.from_call or (found.parent.from_call if found.parent is not None else 1),
        to_call=to_call,
        blocks=tuple(map(str, found.blocks)),
        messages=len(found.messages),
        records=len(records),
        range_tokens=found.tokens,
        fresh_tokens=found.count(found.earlier) * bool(found.earlier) + sum(found.count(piece.text) for piece in found.fresh),
        view_tokens=found.shown.view.tokens,
        first_pointer=_pointer(session, records[0][0]) if records else "",
        last_pointer=_pointer(session, records[-1][0]) if records else "",
        range_sha256=hashlib.sha256(b"".join(digest for _, digest in records)).hexdigest(),
        view_sha256=found.shown.sha256,
        is_moved=found.is_moved,
        parent=found.parent.public_id if found.parent is not None else "",
        parent_place=found.parent_place,
        is_model=asked.summarizer != EXTRACTIVE,
        model=model.model,
        shape=asked.shape if asked.summarizer != EXTRACTIVE else "",
        prompt_version=EXTRACT_VERSION if asked.summarizer == EXTRACTIVE else prompt_version(asked.shape),
        input_tokens=model.input_tokens,
        cost_nano=model.cost_nano,
        caps_left=model.caps_left,
        breaker=model.breaker,
        problems=(*_problems(found, asked), *model.problems),
    )
    return Planned(plan=plan, range=found, revision=revision, recorded=model.recorded)


def _to_call(revision: Revision, asked: SummaryAsked) -> int:
    """The call whose view it is: the last one of the active path where none is named."""
    calls = ModelCall.objects.filter(revision=revision)
    last = calls.filter(abandoned=False).order_by("-n").values_list("n", flat=True).first()
    if last is None:
        raise SummaryRefused("the session logs no model call, so there is no view to summarise", field="to_call")
    if asked.to_call is None:
        return last
    if not calls.filter(n=asked.to_call).exists():
        raise SummaryRefused(f"to_call is {asked.to_call:,}: give 1 to {calls.count():,}", field="to_call")
    return asked.to_call


def _range(session: Session, revision: Revision, asked: SummaryAsked, to_call: int) -> SummaryRange:
    history = History.objects.filter(revision=revision, origin="recorded").defer("bins").get()
    shown = recorded_view(session=session, history=history, call=to_call)
    if asked.is_incremental:
        return incremental_range(session=session, shown=shown, from_call=asked.from_call, keep_tokens=asked.keep_tokens)
    return summary_range(shown=shown, from_call=asked.from_call or 1, keep_tokens=asked.keep_tokens)


def range_records(*, revision: Revision, found: SummaryRange) -> Iterator[Record]:
    """The records of the lane from the first to the last that hold the range, in the order of the file."""
    if found.records is None:
        return
    first, last = found.records
    for start, end in revision.records:
        numbers = max(start, first), min(end, last)
        if numbers[0] <= numbers[1]:
            yield from Record.objects.filter(source=revision.source_id, number__range=numbers).order_by("number").iterator()


def _records(revision: Revision, found: SummaryRange) -> list[tuple[int, bytes]]:
    return [(record.number, bytes(record.digest)) for record in range_records(revision=revision, found=found)]


def _pointer(session: Session, number: int) -> str:
    return f"transcript:{session.public_id}:{number}"


def _problems(found: SummaryRange, asked: SummaryAsked) -> Iterator[Problem]:
    if not found.messages:
        yield Problem(code="empty_range", field="from_call", message=_nothing(found, asked))
        return
    if found.earlier and not found.fresh:
        message = f"nothing came since the checkpoint that it would be merged with: choose a call after {found.shown.call:,}"
        yield Problem(code="nothing_new", field="to_call", message=message)
        return
    if found.tokens < LEAST_RANGE_TOKENS:
        message = f"the range has {found.tokens:,} tokens: from {LEAST_RANGE_TOKENS:,} on a summary can be smaller than it"
        yield Problem(code="small_range", field="from_call", message=message)
        return
    try:
        found.replaced_by("")
    except EditError as error:
        yield Problem(code="protocol", field="to_call", message=f"the view cannot be cut there: {error}")


def _nothing(found: SummaryRange, asked: SummaryAsked) -> str:
    if asked.keep_tokens:
        return f"no whole interaction lies before the newest {asked.keep_tokens:,} tokens: keep fewer, or choose a later call"
    return f"no whole interaction came with these calls and is in the view of call {found.shown.call:,}: choose more calls"
