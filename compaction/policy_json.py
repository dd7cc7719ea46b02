"""Policies as JSON-able data and back, and policies with other settings.

What is written is read as an equal policy. What cannot be is refused with the field that is wrong: `trigger.value`,
`stages.2.layer.keep`, or, for a setting, its own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from typing import cast

from compaction.errors import PolicyError
from compaction.layers import LAYERS
from compaction.layers.base import Layer
from compaction.policy import Policy, Setting, Stage, Variant
from compaction.policy_rules import check_policy
from compaction.transcript import LaneKind
from compaction.typed_json import Json, arguments, at, hints_of, made, read, shown, to_json

__all__ = ["policy_for", "policy_from_data", "policy_to_data", "setting_names", "variant_named", "with_settings"]


def policy_to_data(policy: Policy) -> dict[str, Json]:
    """The policy as a mapping of all its fields; a layer is a mapping of its id and its limits."""
    data = {field.name: to_json(getattr(policy, field.name)) for field in fields(policy) if field.name != "stages"}
    return {**data, "stages": [_stage_to_data(stage) for stage in policy.stages]}


def policy_from_data(given: object) -> Policy:
    """The policy of such a mapping; what has a default may be left out. Raises PolicyError."""
    values = arguments(Policy, given, "", leave=frozenset({"stages", "variants"}))
    stages, variants = values.pop("stages"), values.pop("variants", ())
    if not isinstance(stages, list | tuple) or not isinstance(variants, list | tuple):
        raise PolicyError("stages and variants must be lists", field="variants" if isinstance(stages, list | tuple) else "stages")
    values["stages"] = tuple(_stage_from_data(one, f"stages.{index}") for index, one in enumerate(stages))
    values["variants"] = tuple(_variant_from_data(one, f"variants.{index}") for index, one in enumerate(variants))
    policy = check_policy(made(lambda: Policy(**values), ""))  # type: ignore[arg-type]
    for index, variant in enumerate(policy.variants):
        made(partial(with_settings, policy, dict(variant.settings)), f"variants.{index}.settings")
    return policy


def with_settings(policy: Policy, settings: Mapping[str, object]) -> Policy:
    """The policy with other limits: `trigger` (its value), `window`, `hard_limit`, `<layer>.<field>`. Raises PolicyError.

    A value may be a text, as an address or a command gives it: it is read as the field's kind. Where a layer has several stages, the
    first is set, and with it those that had the same limit. Settings that are held to each other are taken together: their order
    does not matter.
    """
    of_layers: dict[str, dict[str, object]] = {}
    if {"trigger", "hard_limit"} <= settings.keys():
        policy = replace(policy, guard=replace(policy.guard, hard_limit=None))  # the new ones are compared, not a new one with an old one
    for name, value in sorted(settings.items(), key=lambda setting: setting[0] == "hard_limit"):
        if name in ("trigger", "window", "hard_limit"):
            policy = _with_setting(policy, name, value, named="trigger" if "trigger" in settings else name)
        else:
            of_layers.setdefault(name.partition(".")[0], {})[name] = value
    for layer_id, given in of_layers.items():
        policy = _with_layer_settings(policy, layer_id, given)
    try:
        return check_policy(policy)
    except PolicyError as refused:
        raise PolicyError(str(refused), field=_setting_of(policy, refused.field, settings)) from refused


def policy_for(policy: Policy, lane: LaneKind, *, starts_from_summary: bool = False) -> Policy:
    """The policy as it holds for a lane: with the settings of each variant that holds for it, in their order."""
    for variant in policy.variants:
        if variant.holds_for(lane, starts_from_summary=starts_from_summary):
            policy = with_settings(policy, dict(variant.settings))
    return policy


def variant_named(policy: Policy, variant_id: str) -> Policy:
    """The policy with the settings of one variant. Raises PolicyError where it has none of this id."""
    for variant in policy.variants:
        if variant.id == variant_id:
            return with_settings(policy, dict(variant.settings))
    known = ", ".join(variant.id for variant in policy.variants) or "none"
    raise PolicyError(f"{policy.id} has no variant {variant_id[:80]!r}; it has {known}", field="variant")


def setting_names(policy: Policy) -> dict[str, Setting]:
    """What `with_settings` takes for this policy, with the values that hold now."""
    names: dict[str, Setting] = {} if policy.trigger is None else {"trigger": policy.trigger.value}
    names |= {"window": policy.window, "hard_limit": policy.guard.hard_limit}
    for stage in policy.stages:
        for field in fields(stage.layer):  # type: ignore[arg-type]  # each layer is a dataclass
            names.setdefault(f"{stage.layer.id}.{field.name}", getattr(stage.layer, field.name))
    return names


def _setting_of(policy: Policy, field: str, settings: Mapping[str, object]) -> str:
    """The given setting that a refused field stands for; the first of them where another one made it wrong."""
    match field.split("."):
        case ["stages", index, "layer", limit]:
            name = f"{policy.stages[int(index)].layer.id}.{limit}"
        case [name, *_]:
            pass
    return name if name in settings else next(iter(settings), field)


def _with_setting(policy: Policy, name: str, value: object, *, named: str) -> Policy:
    """The policy with one of its own limits; `named` is the field where a hard limit is below its trigger."""
    if name == "window":
        return _replaced(policy, name, window=_setting(int | None, value, name))
    if name == "hard_limit":
        guard = made(lambda: replace(policy.guard, hard_limit=cast("int | None", _setting(int | None, value, name))), name, exactly=True)
        return _replaced(policy, named, guard=guard)
    trigger = policy.trigger
    if trigger is None:
        raise PolicyError(f"{policy.id} has no trigger of its own: set limits of its layers instead", field=name)
    fired = made(lambda: replace(trigger, value=cast("float", _setting(float, value, name))), name, exactly=True)
    return _replaced(policy, name, trigger=fired)


def _with_layer_settings(policy: Policy, layer_id: str, settings: Mapping[str, object]) -> Policy:
    """The policy with limits of one layer, `<layer>.<field>`, all at once."""
    layers = [stage.layer for stage in policy.stages if stage.layer.id == layer_id]
    values: dict[str, object] = {}
    for name, value in settings.items():
        limit = name.partition(".")[2]
        if not layers or limit not in _limits_of(type(layers[0])):
            known = ", ".join(setting_names(policy))
            raise PolicyError(f"{policy.id} has no setting {shown(name)!r}; it has {known}", field=shown(name))
        values[limit] = _setting(hints_of(type(layers[0]))[limit], value, name)
    stages = tuple(
        replace(stage, layer=_with_limits(stage.layer, layers[0], values)) if stage.layer.id == layer_id else stage
        for stage in policy.stages
    )
    return _replaced(policy, next(iter(settings)), stages=stages)


def _with_limits(layer: Layer, first: Layer, values: Mapping[str, object]) -> Layer:
    """The layer with those limits that it has in common with the first of its kind."""
    changes = {limit: value for limit, value in values.items() if getattr(layer, limit) == getattr(first, limit)}
    try:
        return made(lambda: replace(layer, **changes), layer.id)  # type: ignore[type-var]  # each layer is a dataclass
    except PolicyError as refused:
        field = refused.field.removeprefix(f"{layer.id}.")
        raise PolicyError(str(refused), field=f"{layer.id}.{field if field in values else next(iter(values))}") from refused


def _setting(hint: object, value: object, name: str) -> object:
    """A setting as its field's kind; a text stands for a number, a truth value or null where the field is one."""
    if isinstance(value, str):
        for plain in (value, *_plain(value)):
            try:
                return read(hint, plain, name)
            except PolicyError:
                continue
    return read(hint, value, name)


def _plain(text: str) -> list[object]:
    """What a text may stand for, beside itself."""
    words: dict[str, object] = {"": None, "none": None, "null": None, "true": True, "false": False}
    if text.lower() in words:
        return [words[text.lower()]]
    found: list[object] = []
    for kind in (int, float):
        try:
            found.append(kind(text.replace(",", "") if kind is int else text))
        except ValueError:
            continue
    return [*found, [part for part in text.split(",") if part]]


def _replaced(policy: Policy, name: str, **changes: object) -> Policy:
    return made(lambda: replace(policy, **changes), name, exactly=True)  # type: ignore[arg-type]


def _stage_to_data(stage: Stage) -> dict[str, Json]:
    limits = {name: to_json(getattr(stage.layer, name)) for name in _limits_of(type(stage.layer))}
    return {"layer": {"id": stage.layer.id, **limits}, "when": stage.when, "trigger": to_json(stage.trigger)}


def _stage_from_data(given: object, place: str) -> Stage:
    values = arguments(Stage, given, place, leave=frozenset({"layer"}))
    layer = _layer_from_data(values.pop("layer"), at(place, "layer"))
    return made(lambda: Stage(layer=layer, **values), place)  # type: ignore[arg-type]


def _layer_from_data(given: object, place: str) -> Layer:
    if not isinstance(given, Mapping):
        raise PolicyError(f"{place} must be a mapping of an id and limits", field=place)
    kinds = {kind.id: kind for kind in LAYERS}
    layer_id = given.get("id")
    if not isinstance(layer_id, str) or layer_id not in kinds:
        raise PolicyError(f"{at(place, 'id')} names no layer: use one of {', '.join(kinds)}", field=at(place, "id"))
    kind = kinds[layer_id]
    limits = arguments(kind, {name: value for name, value in given.items() if name != "id"}, place)
    return made(lambda: kind(**limits), place)


def _variant_from_data(given: object, place: str) -> Variant:
    values = arguments(Variant, given, place, leave=frozenset({"settings"}))
    settings = values.pop("settings")
    pairs = list(settings.items()) if isinstance(settings, Mapping) else settings
    place = at(place, "settings")
    values["settings"] = read(tuple[tuple[str, Setting], ...], pairs, place)
    return made(lambda: Variant(**values), place)  # type: ignore[arg-type]


def _limits_of(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
