"""mini-harness 09's compaction: while over its threshold, a summary takes the place of everything between system message and tail.

The tail is counted in tokens and not aware of tool pairs; the layer `summarise_range` is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from compaction.checkpoints import PREAMBLE, checkpoint_text
from compaction.course09.estimates import estimate_message, measure_pressure

RETAIN_RATIO = 0.16
RETRIES = 1
NO_TAIL = -1

Reason = Literal["converged", "replaced_still_over", "unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message as it is priced: its role and its content, of which only the text counts."""

    role: str
    content: str | None


Summarize = Callable[[Sequence[Turn]], str | None]
"""Asks the model. What it raises goes to the caller, and nothing is changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """One summary that took the place of `count` messages; prices are estimated tokens."""

    count: int
    tokens: int
    checkpoint_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a compaction came to. `calls` are the messages given to the model at each attempt; `last` the last replacement."""

    before: tuple[Turn, ...]
    after: tuple[Turn, ...]
    calls: tuple[int, ...]
    last: Replacement | None
    window: int

    @property
    def tokens_before(self) -> int:
        """Estimated tokens of all messages before."""
        return estimate_turns(self.before)

    @property
    def tokens_after(self) -> int:
        """Estimated tokens of all messages after."""
        return estimate_turns(self.after)

    @property
    def reason(self) -> Reason:
        """Whether something was replaced, and whether that was enough."""
        if self.last is None:
            return "unchanged"
        return "replaced_still_over" if over_threshold(self.after, self.window) else "converged"


def estimate_turns(turns: Sequence[Turn]) -> int:
    """Estimated tokens of these messages."""
    return sum(estimate_message(turn.content) for turn in turns)


def over_threshold(turns: Sequence[Turn], window: int) -> bool:
    """Whether these messages are at the threshold of the window or above it."""
    return measure_pressure([turn.content for turn in turns], window=window).over_threshold


def tail_start(turns: Sequence[Turn], window: int) -> int:
    """Index of the first message of the tail that stays; NO_TAIL where nothing lies between it and the system message."""
    budget, kept = int(window * RETAIN_RATIO), 0
    for index in range(len(turns) - 1, 1, -1):
        kept += estimate_message(turns[index].content)
        if kept >= budget:
            return index
    return NO_TAIL


def checkpoint_turn(summary: str, preamble: str = PREAMBLE) -> Turn:
    """The user message that stands for what was summarised."""
    return Turn(role="user", content=checkpoint_text(summary, preamble))


def compact(turns: Sequence[Turn], summarize: Summarize, *, window: int, retries: int = RETRIES, preamble: str = PREAMBLE) -> Outcome:
    """Replace the older messages by a summary, at most `retries` + 1 times, until the rest is below the threshold.

    A blank summary and one that costs as much as what it replaces are rejected and asked for again.
    """
    now, calls, last = tuple(turns), list[int](), None
    while len(calls) <= retries and over_threshold(now, window):
        start = tail_start(now, window)
        if start == NO_TAIL:
            break
        shadowed = now[1:start]
        calls.append(len(shadowed))
        summary = summarize(shadowed)
        replacement = _replacement(shadowed, summary, preamble)
        if summary is not None and replacement is not None:
            now, last = (now[0], checkpoint_turn(summary, preamble), *now[start:]), replacement
    return Outcome(before=tuple(turns), after=now, calls=tuple(calls), last=last, window=window)


def _replacement(shadowed: Sequence[Turn], summary: str | None, preamble: str) -> Replacement | None:
    if summary is None or not summary.strip():
        return None
    tokens = estimate_turns(shadowed)
    checkpoint = estimate_message(checkpoint_turn(summary, preamble).content)
    return Replacement(count=len(shadowed), tokens=tokens, checkpoint_tokens=checkpoint) if checkpoint < tokens else None
