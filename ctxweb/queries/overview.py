"""The overview of a lane: its context map, the selected call, what happened and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxweb.charts.bins import MOST_BINS, Bin, binned, bins_from_json
from ctxweb.charts.context_map import MOST_CALLS_IN_ORDER, ContextMap, MapFigures, Stack, context_map
from ctxweb.charts.strata import Layer
from ctxweb.lane_rows import lane_rows
from ctxweb.models import History, LedgerEntry, Session
from ctxweb.queries.became import Became, became
from ctxweb.queries.happenings import Happening, drops_of, happenings
from ctxweb.queries.hidden import MIDDLE_START_SHARE, MIDDLE_START_TOKENS
from ctxweb.queries.readout import Readout, hidden_overhead, readout

MOST_TOLD = 25  # happenings on the page; the ledger has all
REATTACHED = 1_000  # tokens; less after a compaction is not worth a line
MOST_REATTACHED = 6


CHANGED_WORDS: dict[str, str] = {  # action that leaves a block in its place: what was done to it
    "clear": "cleared",
    "truncate": "truncated",
    "replace": "replaced",
    "spill": "stored outside",
}
RESULT_MECHANISMS = frozenset({"clear_tool_result", "mask_tool_result"})  # they change tool results only


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """`blocks` edits that left each block in the prompt in another state: `4 results were cleared`."""

    noun: str
    verb: str
    blocks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The answer line. `summaries` and `other` compactions took `removed_blocks` out of the prompt, those of `changed` took none;
    how many an `unrecorded` drop took cannot be told. What a person took back stands apart, `person_blocks` in `by_person` times.
    `sizes` are reported (before, after) of the summaries, at most three."""

    summaries: int
    other: int
    changed: tuple[Changed, ...]
    unrecorded: int
    by_person: int
    person_blocks: int
    removed_blocks: int
    sizes: tuple[tuple[int, int], ...]
    calls: int
    peak: int
    peak_is_estimate: bool
    peak_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewPage:
    """`before_file`: tokens of the first call that belong to an earlier file, None where it begins normally.

    `map` and `selected` are None in a lane without calls. `reattached`: (call, tokens) right after a compaction that no record shows.
    """

    public_id: str
    calls: int
    stack: Stack
    can_stack_in_order: bool
    outcome: Outcome
    map: ContextMap | None
    selected: Readout | None
    told: tuple[Happening, ...]
    untold: int
    reattached: tuple[tuple[int, int], ...]
    became: Became
    findings: int
    before_file: int | None
    reports_sizes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPage:
    """Only the map, for a switch of its stack."""

    public_id: str
    calls: int
    stack: Stack
    can_stack_in_order: bool
    map: ContextMap | None
    selected: Readout | None
    before_file: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadoutPage:
    public_id: str
    selected: Readout
    stack: Stack | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    bins: tuple[Bin, ...]
    layers: tuple[Layer, ...]


def default_stack(*, calls: int) -> Stack:
    return "order" if calls <= MOST_CALLS_IN_ORDER else "kind"


def overview_page(*, session: Session, history: History, call: int | None, stack: Stack | None) -> OverviewPage:
    """Everything on the overview; `call` and `stack` as asked for, None for the usual."""
    found = happenings(history=history)
    overhead = hidden_overhead(revision_id=history.revision_id)
    drawn, drawing = _map(session, history, found=found, overhead=overhead, stack=stack)
    selected = _selected(session, history, call=call, bins=drawn.bins, found=found, overhead=overhead)
    return OverviewPage(
        public_id=session.public_id,
        calls=session.call_count,
        stack=drawing.stack if drawing else "order",
        can_stack_in_order=bool(drawn.layers) or session.call_count <= MOST_CALLS_IN_ORDER,
        outcome=_outcome(session, found, drawing, taking=_taking(history)),
        map=drawing,
        selected=selected,
        told=found[:MOST_TOLD],
        untold=max(len(found) - MOST_TOLD, 0),
        reattached=_reattached(found, overhead),
        became=became(history=history),
        findings=session.findings,
        before_file=_before_file(drawn.bins, overhead),
        reports_sizes=overhead is not None,
    )


def map_page(*, session: Session, history: History, call: int | None, stack: Stack | None) -> MapPage:
    found = happenings(history=history)
    overhead = hidden_overhead(revision_id=history.revision_id)
    drawn, drawing = _map(session, history, found=found, overhead=overhead, stack=stack)
    return MapPage(
        public_id=session.public_id,
        calls=session.call_count,
        stack=drawing.stack if drawing else "order",
        can_stack_in_order=session.call_count <= MOST_CALLS_IN_ORDER,
        map=drawing,
        selected=_selected(session, history, call=call, bins=drawn.bins, found=found, overhead=overhead),
        before_file=_before_file(drawn.bins, overhead),
    )


def readout_page(*, session: Session, history: History, call: int, stack: Stack | None) -> ReadoutPage | None:
    """The readout of one call, None if the lane has no such call."""
    found = happenings(history=history)
    selected = _readout(session, history, n=call, found=found, overhead=hidden_overhead(revision_id=history.revision_id))
    return None if selected is None else ReadoutPage(public_id=session.public_id, selected=selected, stack=stack)


def _map(
    session: Session, history: History, *, found: Sequence[Happening], overhead: int | None, stack: Stack | None
) -> tuple[_Drawn, ContextMap | None]:
    """The map call by call up to `MOST_CALLS_IN_ORDER`, above it from the stored bins."""
    if not session.call_count:
        return _Drawn(bins=(), layers=()), None
    asked = stack or default_stack(calls=session.call_count)
    drawn, figures = map_figures(session, history, found=found, overhead=overhead, stack=asked)
    return drawn, context_map(figures, stack=asked)


def map_figures(
    session: Session, history: History, *, found: Sequence[Happening], overhead: int | None, stack: Stack
) -> tuple[_Drawn, MapFigures]:
    """What the map of a lane with calls is drawn from."""
    drops = drops_of(found, overhead=overhead or 0)
    if session.call_count <= MOST_CALLS_IN_ORDER:
        rows = lane_rows(history=history)
        most = len(rows.calls) if stack == "order" else MOST_BINS
        drawn = _Drawn(bins=binned(rows.calls, drops=[drop.before_call for drop in drops], most=most), layers=rows.layers)
    else:
        drawn = _Drawn(bins=bins_from_json(history.bins), layers=())
    figures = MapFigures(
        calls=session.call_count,
        bins=drawn.bins,
        drops=drops,
        window=session.window,
        window_is_assumed=session.window_is_assumed,
        overhead=overhead,
        layers=drawn.layers if stack == "order" else (),
    )
    return drawn, figures


def _selected(
    session: Session, history: History, *, call: int | None, bins: Sequence[Bin], found: Sequence[Happening], overhead: int | None
) -> Readout | None:
    """The call asked for, else the largest."""
    if not bins:
        return None
    largest = max(bins, key=lambda each: each.call.size).call.n
    n = call if call is not None and 1 <= call <= session.call_count else largest
    return _readout(session, history, n=n, found=found, overhead=overhead)


def _readout(session: Session, history: History, *, n: int, found: Sequence[Happening], overhead: int | None) -> Readout | None:
    drops = [drop.before_call for drop in drops_of(found, overhead=overhead or 0)]
    return readout(history=history, n=n, calls=session.call_count, window=session.window, overhead=overhead, drops=drops)


def _taking(history: History) -> frozenset[int]:
    """The ordinals of the compactions that took blocks out of the prompt."""
    taken = LedgerEntry.objects.filter(history=history, adds=False, state_after="").order_by()
    return frozenset(taken.values_list("compaction__ordinal", flat=True).distinct())


def _changed(done: Sequence[Happening]) -> tuple[Changed, ...]:
    sums: dict[tuple[str, str], int] = {}
    for each in done:
        key = ("result" if each.mechanism in RESULT_MECHANISMS else "block", CHANGED_WORDS.get(each.action, "changed"))
        sums[key] = sums.get(key, 0) + each.blocks
    return tuple(Changed(noun=noun, verb=verb, blocks=blocks) for (noun, verb), blocks in sums.items() if blocks)


def _outcome(session: Session, found: Sequence[Happening], drawing: ContextMap | None, *, taking: frozenset[int]) -> Outcome:
    done = [each for each in found if each.status == "ok" and (each.number is not None or each.by_person)]
    summaries = [each for each in done if each.action == "summarise"]
    others = [each for each in done if each.action not in ("summarise", "inferred") and not each.by_person]
    by_person = [each for each in done if each.by_person]
    sizes = [(each.before, each.after) for each in summaries if each.before is not None and each.after is not None and not each.estimated]
    peak = session.peak_context or (drawing.peak if drawing else 0)
    return Outcome(
        summaries=len(summaries),
        other=sum(each.ordinal in taking for each in others),
        changed=_changed([each for each in others if each.ordinal not in taking]),
        unrecorded=sum(each.inferred for each in done),
        by_person=len(by_person),
        person_blocks=sum(each.blocks for each in by_person),
        removed_blocks=session.removed_blocks,
        sizes=tuple((before, after) for before, after in sizes[:3] if before and after),
        calls=session.call_count,
        peak=peak,
        peak_is_estimate=session.peak_context is None,
        peak_share=peak / session.window if session.window else None,
    )


def _reattached(found: Sequence[Happening], overhead: int | None) -> tuple[tuple[int, int], ...]:
    """What a call right after a summary holds beyond its log and beyond what the first call held."""
    if overhead is None:
        return ()
    calls = (
        (each.call, each.unexplained_after - overhead)
        for each in found
        if each.call is not None and each.action == "summarise" and each.unexplained_after is not None
    )
    return tuple((call, tokens) for call, tokens in calls if tokens >= REATTACHED)[:MOST_REATTACHED]


def _before_file(bins: Sequence[Bin], overhead: int | None) -> int | None:
    """What the first call holds beyond its log, where that is too much for a system prompt."""
    if not bins or overhead is None or bins[0].call.reported is None:
        return None
    first = bins[0].call
    if (first.reported or 0) > MIDDLE_START_TOKENS and first.estimate < MIDDLE_START_SHARE * (first.reported or 0):
        return overhead
    return None
