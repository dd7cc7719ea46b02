"""What a prompt measures, part by part, and the pressure that it puts on its window. Measured, never decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from compaction.counters.figure import TokenCounter, TokenFigure
from compaction.counters.sizes import json_text, text_sizes
from compaction.counters.units import UNITS, Course09Chars4, DshUtf16, S08Repr, Unit
from compaction.course09 import estimates as course09
from compaction.dsh.estimates import compact_json
from compaction.limits import Limits
from compaction.messages import Block, BlockId, Body, Message
from compaction.pricing import Pricer, estimated_count
from compaction.view import PromptView
from compaction.wire import read_wire

Tools = Sequence[Mapping[str, object]]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitMeasurement:
    """The parts of a prompt in one unit. `of` says whether these are tokens or characters; units are never added up."""

    unit: str
    title: str
    of: Literal["tokens", "characters"]
    messages: int
    tools: int
    system: int

    @property
    def total(self) -> int:
        """The whole prompt."""
        return self.messages + self.tools + self.system


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMeter:
    """Measures messages, tool definitions and system prompt, each by itself, in every unit side by side.

    `count` counts a text under the session's public tokenizer; without one, what the exact unit says is an estimate. A
    program that prices no tools or no system prompt itself (s14, s08) is taken to price them as it prices a plain text.
    """

    count: Callable[[str], int] = estimated_count
    units: tuple[Unit, ...] = UNITS

    def measure(
        self, messages: Sequence[Mapping[str, object]], *, tools: Tools = (), system: str | None = None
    ) -> tuple[UnitMeasurement, ...]:
        """Wire messages in each unit. Each distinct text is counted once."""
        once = TokenMeter(count=cache(self.count), units=self.units)
        views = [read_wire(messages, Pricer(unit, count=once.count)) for unit in self.units]
        return tuple([once.measure_view(view, tools=tools, system=system) for view in views])

    def measure_view(self, view: PromptView, *, tools: Tools = (), system: str | None = None) -> UnitMeasurement:
        """A view in the unit that it is priced in."""
        unit = view.pricer.unit
        return UnitMeasurement(
            unit=unit.id,
            title=unit.title,
            of=unit.of,
            messages=view.own,
            tools=_tools(unit, tools, self.count) if tools else 0,
            system=0 if system is None else _system(unit, system, self.count),
        )


def _tools(unit: Unit, tools: Tools, count: Callable[[str], int]) -> int:
    """The list of tools as the unit's program sends it."""
    if isinstance(unit, Course09Chars4):
        return course09.estimate_tools(tools)
    if isinstance(unit, S08Repr):
        return len(repr(list(tools)))
    return _text(unit, compact_json(tools) if isinstance(unit, DshUtf16) else json_text(tools), count)


def _system(unit: Unit, system: str, count: Callable[[str], int]) -> int:
    """The system prompt; of mini-harness 09 it is a message."""
    return course09.estimate_message(system) if isinstance(unit, Course09Chars4) else _text(unit, system, count)


def _text(unit: Unit, text: str, count: Callable[[str], int]) -> int:
    block = Block(id=BlockId(1, 1), kind="text", body=Body.of(text))
    return unit.block(block, text_sizes(text), count(text), "text")
