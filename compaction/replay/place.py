"""Where a replay stands: the view that its last run left, and the messages that arrived since, as two sums.

Sizes are those of the view at any later call by prefix sums; the view itself is put together only where a run needs it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from compaction.policy import Trigger
from compaction.replay.rendered import Rendered
from compaction.replay.replayable import Replayable
from compaction.triggers import is_over
from compaction.view import PromptView, ViewMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`base` are the messages after the last run, which had seen the first `upto` of the transcript. `own` and `tokens` are
    their sizes without what the unit asks for the list. `next_call`: the first active call that no run looked at."""

    session: Replayable
    transcript: Rendered
    base: tuple[ViewMessage, ...]
    own: int
    tokens: int
    upto: int
    next_seq: int
    next_call: int | None
    settled: dict[object, int] = field(default_factory=dict)

    @classmethod
    def start(cls, session: Replayable, transcript: Rendered) -> Place:
        """Before the first call."""
        first = session.active[0] if session.active else None
        return cls(session=session, transcript=transcript, base=(), own=0, tokens=0, upto=0, next_seq=session.last_seq + 1, next_call=first)

    def after(self, call: int, view: PromptView) -> Place:
        """Behind the runs of a call, which left `view`."""
        active = self.session.active
        place = bisect_right(active, call)
        return Place(
            session=self.session,
            transcript=self.transcript,
            base=view.messages,
            own=view.own - self.transcript.pricer.unit.view(len(view.messages)),
            tokens=view.tokens,
            upto=self.session.arrived(call),
            next_seq=view.next_seq,
            next_call=active[place] if place < len(active) else None,
            settled=view.settled,
        )

    def view(self, call: int) -> PromptView:
        """The view before a call. O(its messages)."""
        k = self.session.arrived(call)
        return PromptView(
            messages=self.base + self.transcript.messages[self.upto : k],
            own=self.own_at(k),
            tokens=self.tokens_at(k),
            next_seq=self.next_seq,
            pricer=self.transcript.pricer,
            settled=self.settled.copy(),
        )

    def own_at(self, k: int) -> int:
        """The size in the policy's unit once k messages of the transcript have arrived."""
        sums = self.transcript.own
        return self.own + sums[k] - sums[self.upto] + self.transcript.pricer.unit.view(self.count_at(k))

    def tokens_at(self, k: int) -> int:
        """The exact counts then."""
        return self.tokens + self.transcript.tokens[k] - self.transcript.tokens[self.upto]

    def count_at(self, k: int) -> int:
        """The messages of the view then."""
        return len(self.base) + k - self.upto

    def size_at(self, trigger: Trigger, k: int, hidden: int) -> int:
        """What a trigger compares then, as `compaction.triggers.measured` does for a view."""
        if trigger.kind == "messages":
            return self.count_at(k)
        if trigger.kind == "events":
            base = sum(len(message.seqs) for message in self.base)
            return base + self.transcript.logged[k] - self.transcript.logged[self.upto]
        size = self.own_at(k) if trigger.count in ("own", "estimate") else self.tokens_at(k)
        return size + hidden if trigger.scope == "prompt" else size

    def call_over(self, trigger: Trigger, limit: float | None, hidden: int) -> int | None:
        """The first call before which the trigger fires, None if it never does. O(log messages): sizes only grow until a run."""
        if limit is None:
            return None
        if self.transcript.is_list_free and trigger.kind not in ("messages", "events") and trigger.count in ("own", "estimate"):
            sums = self.transcript.own
            least = limit - self.own + sums[self.upto] - (hidden if trigger.scope == "prompt" else 0)
            return self.call_of((bisect_left if trigger.inclusive else bisect_right)(sums, least, lo=self.upto))
        return self.first_call(lambda k: is_over(trigger, self.size_at(trigger, k, hidden), limit))

    def first_call(self, holds: Callable[[int], bool]) -> int | None:
        """The first call at which `holds(messages arrived)` is true, where it stays true once it is."""
        if self.next_call is None:
            return None
        low, step, last = self.upto, 1, len(self.transcript.messages)
        while low + step <= last and not holds(low + step - 1):  # soon, mostly: look near first
            low, step = low + step, 2 * step
        found = bisect_left(range(low, min(low + step, last + 1)), True, key=holds)
        return self.call_of(low + found)

    def call_of(self, k: int) -> int | None:
        """The first call, from `next_call` on, that was sent the k-th message of the transcript."""
        if self.next_call is None or k > len(self.transcript.messages):
            return None
        return self.next_call if k <= self.upto else max(self.next_call, self.session.arrival_calls[k - 1])
