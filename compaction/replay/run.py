"""Replay: from one call at which a stage of the policy may act to the next.

Between two runs a view only grows by what arrives, so the next call at which a trigger can fire is found by bisection in
prefix sums; the calls between are never looked at.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from compaction.ask import Ask, NoAsk, SummaryRequest, artifact_pointer
from compaction.counters.units import unit_named
from compaction.errors import ProtocolError, ViewLimitExceeded
from compaction.layers.summarise_everything import SummariseEverything
from compaction.pipeline import Moment, compact
from compaction.policy import Policy, Trigger
from compaction.replay.failures import Failure, FailureCode
from compaction.replay.firing import Firing, Replay
from compaction.replay.place import Place
from compaction.replay.replayable import Replayable
from compaction.replay.wakes import Wake, wake_of
from compaction.summarizers import Summarizer, summarizer_named
from compaction.triggers import is_over, measured, threshold
from compaction.view import PromptView

Orphans = Literal["keep", "strict"]
Counting = Literal["own", "exact"]

NAMED_ORPHANS = 20  # ids in the message of a refusal

ASKED_LAYERS = (SummariseEverything,)
"""Layers that an agent's own `compact` tool calls: only a policy that has one answers a recorded call of it."""


@dataclass(frozen=True, slots=True)
class ReplayAsk(NoAsk):
    """Summaries by a summarizer that needs no model. Nothing is stored: a pointer names the body that is stored already."""

    public_id: str
    summarizer: Summarizer

    def summarize(self, request: SummaryRequest) -> str | None:
        return self.summarizer.summarize(request)

    def store(self, text: str, name: str) -> str | None:
        return artifact_pointer(self.public_id, text)


def replay(session: Replayable, policy: Policy, *, count: Counting = "own", summaries: str = "stub", orphans: Orphans = "keep",
           ask: Ask | None = None, window: int | None = None) -> Replay:  # fmt: skip
    """What `policy` would have done to the session.

    `count="exact"` reads limits in tokens as exact tokens. `summaries` names a summarizer, unless `ask` answers itself.
    `window`, in tokens, comes before that of the session, and that before the policy's.
    `orphans`: `keep` counts a tool block without another half as a plain block, `strict` raises ProtocolError with the ids.
    """
    if orphans == "strict" and session.orphans:
        raise _refusal(session)
    counted = _counting_exact(policy) if count == "exact" else policy
    if ask is None:
        summarizer = summarizer_named(summaries, session.recorded_summaries(), last_seq=session.last_seq)
        ask = ReplayAsk(session.facts.public_id, summarizer)
    run = _Run(session, counted, ask, next((size for size in (window, session.facts.window, policy.window) if size is not None), None))
    run.through()
    return Replay(session=session, policy=counted, window=run.window, firings=run.firings, failures=tuple(run.failures))


class _Run:
    """One policy on its way through a session."""

    def __init__(self, session: Replayable, policy: Policy, ask: Ask, window: int | None) -> None:
        self.session = session
        self.policy = policy
        self.ask = ask
        self.firings: list[Firing] = []
        self.failures: list[Failure] = []
        self.window = window
        self._moments = {stage.when for stage in policy.stages}
        self._triggers = [(trigger, threshold(trigger, self.window)) for trigger in _triggers(policy)]
        self._place = Place.start(session, session.rendered(unit_named(policy.unit)))
        self._arriving: PromptView | None = None
        self._wakes = self._all_wakes()

    def through(self) -> None:
        """All calls, from wake to wake."""
        while (call := self._next()) is not None:
            self._let_fail(call)
            self._arriving = self._place.view(call)
            self._place = self._place.after(call, self._at(call, self._arriving))

        self._let_fail(None)

    def _let_fail(self, end: int | None) -> None:
        """Note the calls before `end` (None: all) that hold too much, where no layer would be asked then: they need no view."""
        if self.window is None or "overflow" in self._moments:
            return
        room, active, place = self.window - self.session.hidden, self.session.active, self._place
        first = place.first_call(lambda k: place.tokens_at(k) > room)
        if first is not None:
            for call in active[bisect_left(active, first) : len(active) if end is None else bisect_left(active, end)]:
                self._fail("would_have_failed", call, self.session.hidden + place.tokens_at(self.session.arrived(call)), self.window)

    def _next(self) -> int | None:
        """The next call at which something may happen."""
        soonest: int | None = None
        for wake in self._wakes:
            call = wake(self._place)
            if call is not None and (soonest is None or call < soonest):
                soonest = call
                if call == self._place.next_call:
                    break
        return soonest

    def _at(self, call: int, view: PromptView) -> PromptView:
        """The runs before one call, and the view that they leave."""
        if "arrival" in self._moments:
            view = self._fire(call, view, "arrival")
        firings = len(self.firings)
        view = self._fire(call, view, "call")
        if call in self.session.compact_calls and self._answers and not self._summarised_since(firings):
            view = self._fire(call, view, "asked")
        if self._too_long(view) or (call in self.session.refused and "overflow" in self._moments):
            if "overflow" in self._moments:
                view = self._fire(call, view, "overflow")
            if self._too_long(view):
                self._fail("would_have_failed", call, self.session.hidden + view.tokens, self.window or 0)
        return view

    def _fire(self, call: int, view: PromptView, moment: Moment) -> PromptView:
        over = moment == "call" and self._over(view)
        try:
            compacted = compact(view, self.policy, self.ask, moment=moment, window=self.window, hidden=self.session.hidden)
        except ViewLimitExceeded as exceeded:
            compacted = exceeded.compacted
            self._fail("view_limit_exceeded", call, exceeded.tokens_after, exceeded.hard_limit)
        if compacted.edits or over or moment in ("asked", "overflow"):
            seen = partial(self._place.view, call) if view is self._arriving else partial(_given, view)
            self.firings.append(Firing(call=call, moment=moment, seen=seen, compacted=compacted))
        return compacted.view

    def _over(self, view: PromptView) -> bool:
        """Whether a trigger fires."""
        return any(is_over(trigger, measured(trigger, view, self.session.hidden), limit) for trigger, limit in self._triggers)

    def _fail(self, code: FailureCode, call: int, size: int, limit: int) -> None:
        self.failures.append(Failure(code=code, call=call, size=size, limit=limit))

    def _too_long(self, view: PromptView) -> bool:
        return self.window is not None and self.session.hidden + view.tokens > self.window

    @property
    def _answers(self) -> bool:
        return any(isinstance(stage.layer, ASKED_LAYERS) and stage.when == "over" for stage in self.policy.stages)

    def _summarised_since(self, firings: int) -> bool:
        added = (message for firing in self.firings[firings:] for message in firing.compacted.added)
        return any(message.origin == "summary" for message in added)

    def _all_wakes(self) -> Sequence[Wake]:
        """All that can make a call worth a look."""
        wakes = [wake_of(stage.layer) for stage in self.policy.stages if stage.when in ("always", "arrival")]
        wakes += [_trigger_wake(trigger, limit, self.session.hidden) for trigger, limit in self._triggers]
        if "overflow" in self._moments:
            if self.window is not None:
                room = self.window - self.session.hidden
                wakes.append(lambda place: place.first_call(lambda k: place.tokens_at(k) > room))
            wakes.append(_listed(sorted(self.session.refused)))
        if self._answers:
            wakes.append(_listed(sorted(self.session.compact_calls)))
        return wakes


def _triggers(policy: Policy) -> tuple[Trigger, ...]:
    """The triggers of all stages that run over one, each once."""
    found = (stage.trigger or policy.trigger for stage in policy.stages if stage.when == "over")
    return tuple(dict.fromkeys(trigger for trigger in found if trigger is not None))


def _trigger_wake(trigger: Trigger, limit: float | None, hidden: int) -> Wake:
    return lambda place: place.call_over(trigger, limit, hidden)


def _given(view: PromptView) -> PromptView:
    return view


def _listed(calls: Sequence[int]) -> Wake:
    """The next of some calls."""

    def wake(place: Place) -> int | None:
        at = bisect_left(calls, place.next_call) if place.next_call is not None else len(calls)
        return calls[at] if at < len(calls) else None

    return wake


def _counting_exact(policy: Policy) -> Policy:
    """The policy with its limits in tokens read as exact tokens; one that counts characters stays."""
    return replace(policy, unit="exact") if unit_named(policy.unit).of == "tokens" else policy


def _refusal(session: Replayable) -> ProtocolError:
    named = ", ".join(map(str, session.orphans[:NAMED_ORPHANS]))
    more = f" and {len(session.orphans) - NAMED_ORPHANS} more" if len(session.orphans) > NAMED_ORPHANS else ""
    first = session.orphans[0]
    row = next(row for row in session.blocks if (row.seq, row.i) == first)
    code = "tool_use_unmatched" if row.kind == "tool_use" else "tool_result_unmatched"
    message = f"{len(session.orphans)} tool blocks have no other half ({named}{more}): keep orphans, to count them as plain blocks"
    return ProtocolError(message, code=code, tool_id=row.tool_id, block=str(first), kind=row.kind)
