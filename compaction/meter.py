"""What a prompt measures, part by part, and the pressure that it puts on its window. Measured, never decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from compaction.counters.figure import TokenCounter, TokenFigure
from compaction.limits import Limits
from compaction.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Tokens of the parts of a prompt under one counter. `exact` only if every part is. Blocks without text add nothing."""

    messages: int
    tools: int
    system: int
    exact: bool

    @property
    def total(self) -> int:
        """Tokens of the whole prompt."""
        return self.messages + self.tools + self.system


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressure:
    """Tokens beside the limits. `share` is tokens ÷ window, None where no window is known."""

    tokens: int
    limits: Limits

    @property
    def share(self) -> float | None:
        """Tokens ÷ window: 1 is full, more is over it."""
        return None if self.limits.window is None else self.tokens / self.limits.window

    @property
    def over_trigger(self) -> bool:
        """Whether it is above the trigger; False where there is none."""
        return self.limits.trigger is not None and self.tokens > self.limits.trigger

    @property
    def over_hard_limit(self) -> bool:
        """Whether it is above the hard limit; False where there is none."""
        return self.limits.hard_limit is not None and self.tokens > self.limits.hard_limit


def measure(messages: Iterable[Message], counter: TokenCounter, *, tools: str = "", system: str = "") -> Measurement:
    """Count the texts of messages, of tool definitions (as JSON) and of the system prompt, each by itself."""
    bodies = [counter.count(block.body.text) for message in messages for block in message.blocks if block.body.text is not None]
    around = [counter.count(tools), counter.count(system)]
    return Measurement(
        messages=_sum(bodies),
        tools=around[0].tokens,
        system=around[1].tokens,
        exact=all(figure.exact for figure in (*bodies, *around)),
    )


def _sum(figures: Iterable[TokenFigure]) -> int:
    return sum(figure.tokens for figure in figures)
