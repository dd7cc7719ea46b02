"""What a replay came to: the runs of its policy, the sizes at every call, and what a reader must be told."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter

from compaction.counters.units import unit_named
from compaction.messages import Body
from compaction.pipeline import Compacted, Moment
from compaction.policy import Policy
from compaction.replay.failures import Failure, findings_of
from compaction.replay.rendered import Rendered
from compaction.replay.replayable import Replayable
from compaction.transcript import Finding
from compaction.view import PromptView


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """One run before a call: its trigger fired, or it changed something. One call can have several, each at its `moment`.

    `seen` gives the view that the run was shown: that of a long session is put together when asked for, not kept for every call.
    """

    call: int
    moment: Moment
    seen: Callable[[], PromptView] = field(repr=False, compare=False)
    compacted: Compacted

    @property
    def before(self) -> PromptView:
        """The view that the run was shown. O(its messages)."""
        return self.seen()


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sizes of the view that a call was sent: in the policy's unit, in exact tokens, in messages."""

    own: int
    tokens: int
    messages: int


@dataclass(frozen=True, kw_only=True)
class Replay:
    """One policy over one session. `firings` and `failures` are in the order of calls; `policy` is the one that ran,
    `window` the context window that held, in tokens."""

    session: Replayable
    policy: Policy
    window: int | None
    firings: Sequence[Firing]
    failures: tuple[Failure, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What a reader must be told: failures, one finding for neighbouring calls, and what the transcript lacks."""
        return findings_of(self.session, self.failures)

    def totals(self, n: int) -> Totals:
        """The sizes at call n, after what fired before it. An abandoned call sees the view as it stands."""
        place = bisect_right(self._calls, n)
        transcript, k = self.rendered, self.session.arrived(n)
        if not place:
            own, tokens, messages, upto = 0, 0, 0, 0
        else:
            last = self.firings[place - 1]
            view, upto = last.compacted.view, self.session.arrived(last.call)
            messages = len(view.messages)
            own, tokens = view.own - transcript.pricer.unit.view(messages), view.tokens
        messages += k - upto
        return Totals(
            own=own + transcript.own[k] - transcript.own[upto] + transcript.pricer.unit.view(messages),
            tokens=tokens + transcript.tokens[k] - transcript.tokens[upto],
            messages=messages,
        )

    def view_at(self, n: int) -> PromptView:
        """What call n was sent."""
        place = bisect_right(self._calls, n)
        view = self.firings[place - 1].compacted.view if place else None
        upto = self.session.arrived(self.firings[place - 1].call) if place else 0
        arrived = self.rendered.messages[upto : self.session.arrived(n)]
        before = () if view is None else view.messages
        next_seq = self.session.last_seq + 1 if view is None else view.next_seq
        return PromptView.holding((*before, *arrived), self.rendered.pricer, next_seq=next_seq)

    def bodies(self) -> Iterator[Body]:
        """The texts that layers wrote, each with its text: shortened results, placeholders, summaries."""
        for firing in self.firings:
            yield from (edit.body for edit in firing.compacted.edits if edit.body is not None)
            yield from (block.body for message in firing.compacted.added for block in message.blocks)

    @cached_property
    def rendered(self) -> Rendered:
        """The transcript in the policy's unit."""
        return self.session.rendered(unit_named(self.policy.unit))

    @cached_property
    def _calls(self) -> list[int]:
        return list(map(attrgetter("call"), self.firings))
