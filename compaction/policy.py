"""Policies: ordered layers with their limits, when each runs, and where the numbers come from. Values only; JSON in and out
is `compaction.policy_json`, the published ones are `compaction.policies`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, get_args

from compaction.counters.units import unit_named
from compaction.errors import LimitError, PolicyError
from compaction.layers.base import Layer
from compaction.transcript import LaneKind
from compaction.typed_json import MOST_NUMBER

When = Literal["arrival", "always", "over", "overflow"]
"""When a stage runs: a result just came (arrival), before each call (always), over its trigger (over), or after the provider
refused a prompt as too long (overflow)."""

TriggerKind = Literal["ratio", "tokens", "characters", "headroom", "messages", "events"]
TriggerCount = Literal["usage", "estimate", "own", "exact"]
Setting = int | float | str | bool | tuple[int | float | str | bool, ...] | None

MOST_STAGES = 100
MOST_RETRIES = 100
MOST_TITLE_CHARS = 200

ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """The size at which a run starts. `value` is a share of `of` (ratio), a size (tokens, characters), what must stay free
    of it (headroom), or a number (messages, events: logged messages).

    `count` says which size is compared, `scope` whether the hidden part of the prompt is in it; `inclusive`: it fires at the
    value, else only above it; `whole`: a ratio's size is rounded down to a whole token first.
    """

    kind: TriggerKind
    value: float
    of: Literal["window", "input_limit"] = "window"
    count: TriggerCount = "own"
    scope: Literal["prompt", "messages"] = "messages"
    inclusive: bool = True
    whole: bool = True

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, get_args(TriggerKind))
        _one_of("of", self.of, ("window", "input_limit"))
        _one_of("count", self.count, get_args(TriggerCount))
        _one_of("scope", self.scope, ("prompt", "messages"))
        _number("value", self.value)
        if self.kind == "ratio" and self.value > 1:
            raise PolicyError(f"value is {self.value}: a ratio is above 0 and at most 1", field="value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One layer at its place. `trigger`: its own, None for the policy's; only a stage that runs `over` has one."""

    layer: Layer
    when: When = "over"
    trigger: Trigger | None = None

    def __post_init__(self) -> None:
        _one_of("when", self.when, get_args(When))
        if self.trigger is not None and self.when != "over":
            raise PolicyError(f"trigger of a stage that runs {self.when}: only one that runs over a trigger has it", field="trigger")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What a run is held to. `must_shrink`: a summary that is not smaller than what it stands for is not taken. `retries`:
    how often more a summary is tried, while it is refused or the view is over. `hard_limit`: at or above it after all layers
    is an error."""

    must_shrink: bool = False
    retries: int = 0
    hard_limit: int | None = None

    def __post_init__(self) -> None:
        _whole("retries", self.retries, 0, MOST_RETRIES)
        if self.hard_limit is not None:
            _whole("hard_limit", self.hard_limit, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a policy's numbers come from. `grade`: S read in the producer's own public source, T in its published types or docs, P in
    third-party parsers and public issues, O observed in files, U unverified. `as_of`: year and month."""

    label: str
    source: str
    as_of: str
    grade: Literal["S", "T", "P", "O", "U"]

    def __post_init__(self) -> None:
        _one_of("grade", self.grade, ("S", "T", "P", "O", "U"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The same policy with other settings, under a name of its own; keys as in `with_settings`.

    With `lanes` or `starts_from_summary` it holds by itself for such lanes, and for sessions that begin with a summary (True) or
    without one (False); with neither only where it is asked for by name.
    """

    id: str
    title: str
    settings: tuple[tuple[str, Setting], ...]
    provenance: Provenance | None = None
    lanes: tuple[LaneKind, ...] = ()
    starts_from_summary: bool | None = None

    def __post_init__(self) -> None:
        _id("id", self.id)
        for lane in self.lanes:
            _one_of("lanes", lane, get_args(LaneKind))

    def holds_for(self, lane: LaneKind, *, starts_from_summary: bool) -> bool:
        """Whether it holds by itself for a lane of this kind."""
        if not self.lanes and self.starts_from_summary is None:
            return False
        return (not self.lanes or lane in self.lanes) and self.starts_from_summary in (None, starts_from_summary)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Stages in order. `unit` counts for all its limits. `stop`: a run ends once it is below its trigger (`below`), or goes
    through all stages (`after_all`). `window`: the context window where a session names none, in tokens. `notes`: what a reader must
    know, such as where a published behaviour is only approached."""

    id: str
    title: str
    unit: str
    stages: tuple[Stage, ...]
    provenance: Provenance
    trigger: Trigger | None = None
    stop: Literal["below", "after_all"] = "after_all"
    guard: Guard = field(default_factory=Guard)
    window: int | None = None
    variants: tuple[Variant, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _id("id", self.id)
        _one_of("stop", self.stop, ("below", "after_all"))
        _unit(self.unit)
        if not self.stages:
            raise PolicyError("stages is empty: a policy has at least one layer", field="stages")
        if len(self.stages) > MOST_STAGES:
            raise PolicyError(f"stages has {len(self.stages):,} items: a policy has at most {MOST_STAGES}", field="stages")
        if len(self.title) > MOST_TITLE_CHARS:
            raise PolicyError(f"title has {len(self.title):,} characters: use at most {MOST_TITLE_CHARS}", field="title")
        for index, stage in enumerate(self.stages):
            if stage.when == "over" and stage.trigger is None and self.trigger is None:
                raise PolicyError(f"stages.{index} runs over a trigger, and there is none: give one", field=f"stages.{index}.trigger")
        if self.window is not None:
            _whole("window", self.window, 1)
        self._check_hard_limit()

    def _check_hard_limit(self) -> None:
        trigger, hard_limit = self.trigger, self.guard.hard_limit
        if trigger is not None and hard_limit is not None and trigger.kind in ("tokens", "characters") and trigger.value > hard_limit:
            raise PolicyError(f"trigger ({trigger.value:g}) is above hard_limit ({hard_limit}): lower it", field="trigger.value")


def _one_of(field: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise PolicyError(f"{field} is {value!r}: use one of {', '.join(allowed)}", field=field)


def _number(field: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MOST_NUMBER:  # NaN is in no range
        raise PolicyError(f"{field} is {_shown(value)}: it must be a number above 0, at most {MOST_NUMBER:,}", field=field)


def _whole(field: str, value: object, at_least: int, at_most: int = MOST_NUMBER) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not at_least <= value <= at_most:
        raise PolicyError(f"{field} is {_shown(value)}: it must be a whole number from {at_least} to {at_most:,}", field=field)


def _id(field: str, value: object) -> None:
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise PolicyError(f"{field} is {_shown(value)}: use up to 80 of a-z, 0-9, '.', '_' and '-', a letter or digit first", field=field)


def _shown(value: object) -> str:
    """What was given, short: a number with thousands of digits cannot even be written."""
    if isinstance(value, int) and abs(value) > MOST_NUMBER:
        return f"beyond {MOST_NUMBER:,}"
    return repr(value[:80] if isinstance(value, str) else value)


def _unit(value: str) -> None:
    try:
        unit_named(value)
    except LimitError as error:
        raise PolicyError(str(error), field="unit") from error
