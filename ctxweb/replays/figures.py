"""The sizes of a replay at every call, from its views: what a map by kind is drawn from, without folding a long lane."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from compaction.analysis.estimates import Estimator
from compaction.counters.units import unit_named
from compaction.messages import Block, BlockId, Message, Origin, Role
from compaction.policy import Trigger
from compaction.replay.firing import Firing
from compaction.transcript import Edit
from compaction.triggers import threshold
from compaction.view import ViewMessage, VisibleBlock
from ctxweb.charts.bins import CallFigures
from ctxweb.replays.run import ReplayRun
from ctxweb.vocabulary import KIND_NAMES, kind_of

_PLACES = {name: place for place, name in enumerate(KIND_NAMES)}
_NOBODY = Message(seq=1, role="user", origin="unknown", blocks=(), line=0, record=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """What a policy's trigger compares, put on the scale of a map in tokens: `base` + `factor` × the size of a view."""

    trigger: Trigger
    base: float
    factor: float
    limit: float | None
    hard_limit: float | None

    def of(self, own: int, tokens: int) -> float:
        """The place of a view of these sizes."""
        return self.base + self.factor * (own if self.trigger.count in ("own", "estimate") else tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringSizes:
    """Estimates (≈) of the view before and after a firing."""

    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySizes:
    """`calls` in order, and the sizes of the firings in theirs."""

    calls: tuple[CallFigures, ...]
    firings: tuple[FiringSizes, ...]


def deciding(run: ReplayRun, *, overhead: int) -> Deciding | None:
    """None where the policy has no trigger by size. A limit of the messages alone stands on the hidden part of the prompt,
    `overhead` tokens, as the messages do in the map."""
    trigger, unit = run.replay.policy.trigger, run.unit
    if trigger is None or trigger.kind in ("messages", "events"):
        return None
    factor = 1.0 if unit.of == "tokens" or trigger.count not in ("own", "estimate") else _tokens_a_character(run)
    of_messages = trigger.scope == "messages"
    limit, hard_limit = threshold(trigger, run.replay.window), run.policy.guard.hard_limit
    base = overhead if of_messages else 0
    return Deciding(
        trigger=trigger,
        base=overhead if of_messages else run.lane.hidden,
        factor=factor,
        limit=None if limit is None else base + factor * limit,
        hard_limit=None if hard_limit is None else base + factor * hard_limit,
    )


def _tokens_a_character(run: ReplayRun) -> float:
    """Exact tokens a character of the whole transcript."""
    transcript = run.lane.rendered(unit_named(run.replay.policy.unit))
    return transcript.tokens[-1] / transcript.own[-1] if transcript.own[-1] else 1.0


def replay_sizes(run: ReplayRun, *, line: Deciding | None) -> ReplaySizes:
    """The view of every call by kind, in estimates."""
    sums = _Sums(run.estimator)
    firings = {call: list(group) for call, group in groupby(run.replay.firings, key=lambda firing: firing.call)}
    arrivals = zip(run.lane.arrivals, run.replay.rendered.messages, strict=True)
    waiting = next(arrivals, None)
    calls, sizes = list[CallFigures](), list[FiringSizes]()
    for call in run.lane.calls:
        human = False
        while waiting is not None and waiting[0].call == call.n:
            human = human or (waiting[0].role, waiting[0].origin) == ("user", "human")
            sums.add(waiting[1])
            waiting = next(arrivals, None)
        sizes.extend(_fired(sums, firings.get(call.n, ())))
        totals = run.replay.totals(call.n) if line is not None else None
        decided = line.of(totals.own, totals.tokens) if line is not None and totals is not None else None
        calls.append(CallFigures(n=call.n, reported=None, kinds=tuple(sums.kinds), human=human, deciding=decided))
    return ReplaySizes(calls=tuple(calls), firings=tuple(sizes))


def _fired(sums: _Sums, firings: Iterable[Firing]) -> Iterator[FiringSizes]:
    for firing in firings:
        before = sum(sums.kinds)
        sums.restart(firing.compacted.view.messages)
        yield FiringSizes(before=before, after=sum(sums.kinds))


class _Sums:
    """Estimates of a view by kind, in the order of `vocabulary.KINDS`."""

    def __init__(self, estimator: Estimator) -> None:
        self._estimator = estimator
        self._known: dict[tuple[BlockId, bytes, str], int] = {}
        self.kinds = [0] * len(KIND_NAMES)

    def add(self, message: ViewMessage) -> None:
        for visible in message.blocks:
            self.kinds[place_of(visible.block, message.role, message.origin)] += self._size(visible)

    def restart(self, messages: Iterable[ViewMessage]) -> None:
        self.kinds = [0] * len(KIND_NAMES)
        for message in messages:
            self.add(message)

    def _size(self, visible: VisibleBlock) -> int:
        key = (visible.block.id, visible.body.digest, visible.state)
        size = self._known.get(key)
        if size is None:
            size = self._known[key] = self._estimate(visible)
        return size

    def _estimate(self, visible: VisibleBlock) -> int:
        block = visible.block
        if visible.state == block.state and visible.body.digest == block.body.digest:
            return self._estimator.whole(_NOBODY, block)
        return self._estimator.edited(block, Edit(verb="replace", block=block.id, state=visible.state, body=visible.body))


def place_of(block: Block, role: Role, origin: Origin) -> int:
    """The place of a block among `vocabulary.KINDS`."""
    return _PLACES[kind_of(kind=block.kind, role=role, origin=origin)]
