"""What the replay page asks of a replay, and the controls that show it: a number with a range for each limit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from compaction.policies import POLICIES
from compaction.policy import Policy
from ctxweb import addresses
from ctxweb.models import Session
from ctxweb.replays.asked import COUNTS, SUMMARIES, USUAL_POLICY, ReplayAsked, limits_of, replay_asked, written
from ctxweb.views import asked
from ctxweb.views.choices import Choice, same

NOTCHES = 200  # of a range
LEAST_SHARE = 0.01
NO_LIMITS = ("policy", "count", "summaries", "stack", "csrfmiddlewaretoken")  # parameters of the page beside the limits
MAIN = ("trigger", "hard_limit", "window")
WORDS = {"trigger": "trigger", "hard_limit": "hard limit", "window": "context window"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One limit. `value` holds, `usual` is the policy's own; a range goes from `least` to `most` in `step`s."""

    name: str
    label: str
    value: str
    usual: str
    usual_words: str
    least: str
    most: str
    step: str
    is_set: bool
    without: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnobGroup:
    """The limits of the policy, or of one of its layers."""

    title: str
    knobs: tuple[Knob, ...]


def asked_of(query: QueryDict) -> ReplayAsked:
    """The settings of an address. An empty field is not set. Raises ReplayRefused."""
    policy = asked.text(query, "policy", longest=80) or USUAL_POLICY
    return replay_asked(
        policy=policy,
        limits=limits_of(policy, {name: asked.text(query, name, longest=200) for name in query}, others=NO_LIMITS),
        count=asked.text(query, "count", longest=20) or "own",
        summaries=asked.text(query, "summaries", longest=20) or "stub",
    )


def address_of(session: str, found: ReplayAsked, **more: str | int | None) -> str:
    """The page of these settings, without what is usual."""
    count = "" if found.count == "own" else found.count
    summaries = "" if found.summaries == "stub" else found.summaries
    limits = {name: written(value) for name, value in found.limits.items()}
    return addresses.replay(session, policy=found.base.id, count=count, summaries=summaries, **limits, **more)


def fields_of(found: ReplayAsked) -> tuple[tuple[str, str], ...]:
    """What a form sends beside the policy to ask for the same again."""
    limits = ((name, written(value)) for name, value in found.limits.items())
    return (*limits, ("count", found.count), ("summaries", found.summaries))


def policy_choice(found: ReplayAsked) -> Choice:
    options = tuple((policy.id, policy.title) for policy in POLICIES)
    return Choice(name="policy", label="policy", value=found.base.id, options=options, any="")


def variant_links(session: str, found: ReplayAsked) -> tuple[tuple[str, str, bool], ...]:
    """The policy's variants by name: title, the page with their limits, and whether that is this one."""
    links = []
    for variant in found.base.variants:
        limits = dict(variant.settings)
        asked_so = ReplayAsked(base=found.base, limits=limits, count=found.count, summaries=found.summaries, orphans=found.orphans)
        links.append((variant.title, address_of(session, asked_so), dict(found.limits) == limits))
    return tuple(links)


def how_choices(found: ReplayAsked) -> tuple[Choice, ...]:
    """How it is counted, and whose summaries stand for what a summary takes."""
    counts = {"own": "in the policy’s own unit", "exact": "in exact tokens"}
    summaries = {"stub": "a stub of 1,500 tokens", "extractive": "an extract", "recorded": "the recorded ones"}
    return (
        Choice(name="count", label="limits count", value=found.count, options=tuple((name, counts[name]) for name in COUNTS), any=""),
        Choice(
            name="summaries",
            label="summaries are",
            value=found.summaries,
            options=tuple((name, summaries[name]) for name in SUMMARIES if name in summaries) or same(SUMMARIES),
            any="",
        ),
    )


def knob_groups(
    session: Session, found: ReplayAsked, usual: Mapping[str, Any], *, reach: int, given: QueryDict | None = None
) -> tuple[KnobGroup, ...]:
    """The limits that are numbers, those of the policy first. `reach`: how far a size can be drawn; `given`: what was written and
    refused, to be put right."""
    groups: dict[str, list[Knob]] = {"policy": []}
    titles = {stage.layer.id: stage.layer.title for stage in found.base.stages}
    for name, value in usual.items():
        refused = asked.text(given, name, longest=20) if given is not None else ""
        if not _is_number(value) and found.limits.get(name) is None and not refused:
            continue
        layer, dot, _ = name.partition(".")
        groups.setdefault(titles[layer] if dot else "policy", []).append(_knob(session, found, name, value, reach=reach, refused=refused))
    return tuple(KnobGroup(title=title, knobs=tuple(knobs)) for title, knobs in groups.items() if knobs)


def _knob(session: Session, found: ReplayAsked, name: str, usual: Any, *, reach: int, refused: str) -> Knob:
    least, most, step = _range(found.base, name, usual, reach=reach)
    without = {key: value for key, value in found.limits.items() if key != name}
    return Knob(
        name=name,
        label=WORDS.get(name) or name.partition(".")[2].replace("_", " "),
        value=refused or written(found.limits.get(name, usual)),
        usual=written(usual),
        usual_words=f"{usual:,}" if _is_number(usual) else "not set",
        least=written(least),
        most=written(most),
        step=written(step),
        is_set=name in found.limits,
        without=address_of(
            session.public_id,
            ReplayAsked(base=found.base, limits=without, count=found.count, summaries=found.summaries, orphans=found.orphans),
        ),
    )


def _range(base: Policy, name: str, usual: Any, *, reach: int) -> tuple[float, float, float]:
    """From where to where a limit can be drawn, in round steps."""
    trigger = base.trigger
    if name == "trigger" and trigger is not None and trigger.kind == "ratio":
        return LEAST_SHARE, 1.0, LEAST_SHARE
    if isinstance(usual, float) and usual <= 1:
        return LEAST_SHARE, 1.0, LEAST_SHARE
    value = float(usual) if _is_number(usual) else 0.0
    is_size = name in MAIN and not (name == "trigger" and trigger is not None and trigger.kind in ("messages", "events"))
    step = _round_step(max(2 * value, float(reach) if is_size else 0.0, 10.0) / NOTCHES)
    most = step * math.ceil(max(2 * value, float(reach) if is_size else 0.0, 10.0) / step)
    return (step if name in MAIN else 0, most, step)


def _round_step(step: float) -> int:
    """The next larger of 1, 2, 5, 10, 20, 50, …"""
    size = 1
    while True:
        for factor in (1, 2, 5):
            if factor * size >= step:
                return factor * size
        size *= 10


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
