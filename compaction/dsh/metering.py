"""dsh's meter: how large the next request is, anchored in what the provider reported, and estimated from there on.

All figures are dsh's estimated tokens (`estimates.py`) or reported ones; they are exact sums, so that what is removed and
what is added balance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from compaction.dsh.assembly import Assembly
from compaction.dsh.estimates import HeaderEstimate, estimate_header, estimate_message
from compaction.dsh.events import (
    ASSISTANT,
    CHUNK,
    CONTEXT,
    HEADER,
    METERING_TYPES,
    STEP_START,
    SURFACE_TYPES,
    JsonObject,
    content_of,
    data_of,
    message_of,
    number_of,
    tokens,
    type_of,
    usage_of,
)
from compaction.dsh.surface import Replacement, Surface

BaselineKind = Literal["none", "estimated", "usage"]
PROMPT_BUCKETS = ("inputTokens", "cacheReadTokens", "cacheWriteTokens")
BUCKETS = (*PROMPT_BUCKETS, "outputTokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The size of the next request: `baseline` and what the surface changed since, `delta`. `usage` is what was anchored.

    `nodes` are the visible events with their prices, which make `surface`.
    """

    kind: BaselineKind
    baseline: int
    delta: int
    surface: int
    nodes: tuple[tuple[int, int], ...]
    usage: JsonObject | None = None

    @property
    def total(self) -> int:
        """Tokens of the next request."""
        return max(0, self.baseline + self.delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressure:
    """What a person is shown: the window, the last reported prompt, and the next one; None = not known."""

    window: int | None = None
    prompt: int | None = None
    projected: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """Estimated tokens of the next request by what they are."""

    system: int
    tools: int
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Anchor:
    usage: JsonObject
    tokens: int
    surface: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Price:
    """A metering event: the range that the next replacement must have, and what it cost."""

    start: object
    end: object
    tokens: int


class Meter:
    """The figures after the events that were taken. `surface` is the one that they are taken into as well.

    `running` follows the recorded prices where they are announced; `_prices` are its own, by event.
    """

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._assembly = Assembly()
        self._prices: dict[int, int] = {}
        self._total = 0
        self._running = 0
        self._step_surface: int | None = None
        self._header: JsonObject = {}
        self._header_price = HeaderEstimate(system=0, tools=0)
        self._anchor: _Anchor | None = None
        self._window: int | None = None
        self._prompt: int | None = None
        self._running_then = 0
        self._announced: _Price | None = None
        self._usages: dict[tuple[int | None, int | None], JsonObject] = {}

    def take(self, event: JsonObject, replacement: Replacement | None) -> None:
        """Take an event; `replacement` is what the surface said to it."""
        kind, data = type_of(event), data_of(event)
        if kind == STEP_START:
            self._step_surface = self._total
            self._assembly.begin()
        elif kind == HEADER:
            self._take_header(data.get("header"))
        elif kind == CONTEXT:
            window = data.get("contextWindow")
            self._window = window if type(window) is int else None
        elif kind == CHUNK:
            self._assembly.add(event)
            self._take_usage(event)
        elif kind in SURFACE_TYPES:
            if kind == ASSISTANT:
                self._take_usage(event)
            self._take_message(event, replacement)
        self._announced = _price_of(data) if kind in METERING_TYPES else None

    def price_of(self, seq: int) -> int:
        """The estimate of one message that was ever visible."""
        return self._prices[seq]

    def measure(self) -> Measure:
        nodes = tuple((seq, self._prices[seq]) for seq in self._surface.nodes)
        if self._anchor is not None:
            delta = self._total - self._anchor.surface
            return Measure(
                kind="usage", baseline=self._anchor.tokens, delta=delta, surface=self._total, nodes=nodes, usage=self._anchor.usage
            )
        estimate = self._header_price.total + self._total
        return Measure(kind="estimated" if estimate else "none", baseline=estimate, delta=0, surface=self._total, nodes=nodes)

    def pressure(self) -> Pressure:
        if self._prompt is None:
            return Pressure(window=self._window)
        return Pressure(window=self._window, prompt=self._prompt, projected=max(0, self._prompt + self._running - self._running_then))

    def breakdown(self) -> Breakdown:
        return Breakdown(system=self._header_price.system, tools=self._header_price.tools, messages=self._running)

    def usage(self) -> dict[str, int]:
        """Reported tokens by bucket, one sample for each step."""
        return {bucket: sum(tokens(usage.get(bucket)) for usage in self._usages.values()) for bucket in BUCKETS}

    def _take_header(self, header: object) -> None:
        header = header if isinstance(header, Mapping) else {}
        if header != self._header:
            self._anchor = None
        self._header = header
        self._header_price = estimate_header(header)

    def _take_usage(self, event: JsonObject) -> None:
        """A sample, before the event itself is added."""
        usage = usage_of(event)
        if usage is None:
            return
        data = data_of(event)
        self._usages[number_of(data.get("turn")), number_of(data.get("step"))] = usage
        self._prompt = sum(tokens(usage.get(bucket)) for bucket in PROMPT_BUCKETS)
        self._running_then = self._running
        if type_of(event) == ASSISTANT:
            self._anchor_at(event, usage)
            self._step_surface = None

    def _anchor_at(self, event: JsonObject, usage: JsonObject) -> None:
        """A usage below what the request must have cost by the estimate is no anchor."""
        reported = sum(tokens(usage.get(bucket)) for bucket in BUCKETS)
        at_start = self._total if self._step_surface is None else self._step_surface
        if reported >= self._header_price.total + at_start:
            self._anchor = _Anchor(usage=usage, tokens=reported, surface=at_start + self._assembly.price(event))

    def _take_message(self, event: JsonObject, replacement: Replacement | None) -> None:
        price = estimate_message(content_of(message_of(event)), role="assistant" if type_of(event) == ASSISTANT else "user")
        self._prices[event["seq"]] = price
        self._total += price
        if replacement is None:
            self._running += price
            return
        self._total -= sum(self._prices[seq] for seq in replacement.shadowed)
        announced = self._announced
        if announced is not None and (announced.start, announced.end) == (replacement.start, replacement.end):
            self._running += price - announced.tokens


def _price_of(data: JsonObject) -> _Price:
    told = data.get("shadowedRange")
    place = told if isinstance(told, Mapping) else {}
    return _Price(start=place.get("start"), end=place.get("end"), tokens=tokens(data.get("shadowedTokenCount")))
