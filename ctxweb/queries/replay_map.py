"""Two maps above each other on one scale: what was recorded, and what a policy would have made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from compaction.history import Span
from ctxweb.charts.bins import MOST_BINS, binned
from ctxweb.charts.context_map import ContextMap, MapFigures, Stack, context_map
from ctxweb.charts.drops import Drop
from ctxweb.charts.strata import Layer
from ctxweb.lane_rows import lane_names
from ctxweb.queries.happenings import happenings
from ctxweb.queries.overview import map_figures
from ctxweb.queries.readable import Lane
from ctxweb.queries.replay import FOLDED_CALLS, FiringRow, Replayed
from ctxweb.replays.run import ReplayRun
from ctxweb.vocabulary import ACTIONS, KIND_WORDS, kind_of

HEIGHT = 220  # px of each
POINTS = 700  # of the areas of each, so that both fit into one page
MOST_CALLS_IN_ORDER = 160  # of two maps in prompt order in one page


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPair:
    """`recorded` above `replayed`; None in a lane without calls. `can_stack_in_order` says whether the switch is there."""

    recorded: ContextMap | None
    replayed: ContextMap | None
    stack: Stack
    can_stack_in_order: bool


def map_pair(*, lane: Lane, found: Replayed, stack: Stack | None) -> MapPair:
    """Both maps with the same calls, scale and width."""
    session, in_order = lane.session, lane.session.call_count <= MOST_CALLS_IN_ORDER
    asked: Stack = (stack or "order") if in_order else "kind"
    if not session.call_count:
        return MapPair(recorded=None, replayed=None, stack=asked, can_stack_in_order=False)
    told = happenings(history=lane.history)
    _, recorded = map_figures(session, lane.history, found=told, overhead=found.overhead, stack=asked)
    mine = _figures(lane, found, asked)
    room = max(recorded.highest, mine.highest, round(mine.trigger or 0))
    both = [replace(figures, height=HEIGHT, points=POINTS, room=room) for figures in (recorded, mine)]
    return MapPair(
        recorded=context_map(both[0], stack=asked),
        replayed=context_map(both[1], stack=asked),
        stack=asked,
        can_stack_in_order=in_order,
    )


def _figures(lane: Lane, found: Replayed, stack: Stack) -> MapFigures:
    session, line = lane.session, found.line
    drops = tuple(_drop(row, overhead=found.overhead or 0) for row in found.rows if row.edits)
    edges = [drop.before_call for drop in drops]
    window = found.detail.window
    return MapFigures(
        calls=session.call_count,
        bins=binned(found.calls, drops=edges, most=len(found.calls) if stack == "order" else MOST_BINS),
        drops=drops,
        window=window,
        window_is_assumed=session.window_is_assumed and window == session.window,
        overhead=found.overhead,
        layers=_layers(lane, found.run) if stack == "order" and session.call_count <= FOLDED_CALLS else (),
        trigger=line.limit if line is not None else 0.0,
        limit=line.hard_limit if line is not None else None,
    )


def _drop(row: FiringRow, *, overhead: int) -> Drop:
    done = [run for run in row.runs if run.edits]
    action = done[-1].action if done else "remove"
    words = dict.fromkeys(ACTIONS[run.action].word for run in done)
    return Drop(
        ordinal=row.ordinal,
        before_call=row.call,
        action=action,
        word=" + ".join(words),
        inferred=False,
        before=row.estimate_before + overhead,
        after=row.estimate_after + overhead,
        estimated=True,
    )


def _layers(lane: Lane, run: ReplayRun) -> tuple[Layer, ...]:
    names = lane_names(lane.revision.pk)
    speakers = {message.seq: (message.role, message.origin) for message in run.lane.messages}
    speakers |= {message.seq: (message.role, message.origin) for firing in run.replay.firings for message in firing.compacted.added}
    return tuple(_layer(span, names, speakers) for span in _in_prompt_order(run.history.spans))


def _in_prompt_order(spans: Iterable[Span]) -> list[Span]:
    return sorted(spans, key=lambda span: (span.position, span.from_call))


def _layer(span: Span, names: dict[tuple[int, int], str], speakers: Mapping[int, tuple[str, str]]) -> Layer:
    role, origin = speakers[span.block.seq]
    kind = kind_of(kind=span.kind, role=role, origin=origin)
    return Layer(
        block=str(span.block),
        kind=kind,
        start=span.from_call,
        end=2_000_000_000 if span.to_call is None else span.to_call,
        estimate=span.estimate,
        name=names.get(span.block) or KIND_WORDS[kind].word,
    )
