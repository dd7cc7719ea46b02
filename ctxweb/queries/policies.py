"""The policies that can be replayed, with their numbers and where these come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compaction.counters.units import unit_named
from compaction.layers.base import Layer
from compaction.policies import POLICIES
from compaction.policy import Policy, Trigger
from compaction.policy_json import policy_to_data, setting_names
from ctxweb.layer_runs import unit_word
from ctxweb.vocabulary import MECHANISM_ACTION

GRADES = {
    # grade of a provenance: what it means
    "S": "read in the producer’s own public source",
    "T": "from its published types or documentation",
    "P": "from third-party parsers and public issues",
    "O": "observed in files",
    "U": "unverified",
}


WHEN = {
    # when a stage runs: in words
    "arrival": "a result arrives",
    "always": "a call is about to be made",
    "over": "a layer’s own trigger fires",
    "overflow": "the provider refuses a prompt as too long",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRow:
    """One layer of a policy and when it runs."""

    layer: str
    title: str
    action: str
    lossy: bool
    when: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRow:
    """One policy. `unit` counts for its limits; `settings` are what can be set, with the values that hold; `data` is the whole
    policy, as `policy_from_data` reads it back."""

    id: str
    title: str
    unit: str
    unit_title: str
    of: str
    trigger: str
    stop: str
    stages: tuple[StageRow, ...]
    label: str
    source: str
    as_of: str
    grade: str
    grade_means: str
    notes: tuple[str, ...]
    variants: tuple[str, ...]
    settings: dict[str, Any]
    data: dict[str, Any]


def policy_rows() -> tuple[PolicyRow, ...]:
    """All published policies, in their order."""
    return tuple(policy_row(policy) for policy in POLICIES)


def policy_row(policy: Policy) -> PolicyRow:
    unit, told = unit_named(policy.unit), policy.provenance
    return PolicyRow(
        id=policy.id,
        title=policy.title,
        unit=unit.id,
        unit_title=unit_word(unit.id),
        of=unit.of,
        trigger=_when_words(policy) if policy.trigger is None else trigger_words(policy.trigger, unit_title=unit_word(unit.id)),
        stop=policy.stop,
        stages=tuple(_stage_row(stage.layer, stage.when) for stage in policy.stages),
        label=told.label,
        source=told.source,
        as_of=told.as_of,
        grade=told.grade,
        grade_means=GRADES[told.grade],
        notes=policy.notes,
        variants=tuple(variant.id for variant in policy.variants),
        settings=dict(setting_names(policy)),
        data=policy_to_data(policy),
    )


def _stage_row(layer: Layer, when: str) -> StageRow:
    return StageRow(layer=layer.id, title=layer.title, action=MECHANISM_ACTION[layer.mechanism], lossy=layer.lossy, when=when)


def _when_words(policy: Policy) -> str:
    """When the layers of a policy without a trigger of its own run."""
    return ", ".join(dict.fromkeys(WHEN[stage.when] for stage in policy.stages))


def trigger_words(trigger: Trigger, *, unit_title: str) -> str:
    """When a run starts, in a few words."""
    of = "the prompt" if trigger.scope == "prompt" else "the messages"
    sign = "≥" if trigger.inclusive else ">"
    counted = f" ({unit_title})" if trigger.count in ("own", "estimate") else " tokens"
    written: Mapping[str, str] = {
        "ratio": f"{of} {sign} {trigger.value:.0%} of the window{counted}",
        "headroom": f"{of} leaves less than {trigger.value:,.0f} of the window{counted}",
        "tokens": f"{of} {sign} {trigger.value:,.0f}{counted}",
        "characters": f"{of} {sign} {trigger.value:,.0f} ({unit_title})",
        "messages": f"{sign} {trigger.value:,.0f} messages",
        "events": f"{sign} {trigger.value:,.0f} logged messages",
    }
    return written[trigger.kind]
