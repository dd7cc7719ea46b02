"""The tables of docs/policies.md as the registries have them. `python -m tests.compaction.policy_page` writes them into the page."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

from compaction.layers import LAYERS
from compaction.layers.base import Layer
from compaction.policies import POLICIES
from compaction.policy import Policy, Stage, Trigger, Variant

PAGE = Path(__file__).resolve().parents[2] / "docs" / "policies.md"


def tables() -> dict[str, str]:
    """Each table or list of the page by the heading above it."""
    return {
        "The policies": _table("policy | what it replays | unit | fires | stages", [_policy(policy) for policy in POLICIES]),
        "Where the numbers come from": _table("policy | what was read | source | as of | grade", [_source(policy) for policy in POLICIES]),
        "What to know of each": "".join(_notes(policy) for policy in POLICIES if policy.notes or policy.variants),
        "The layers": _table("layer | what it does | loses | mechanism | limits and their defaults", [_layer(kind) for kind in LAYERS]),
    }


def section(page: str, heading: str) -> str:
    """What stands under a heading, from its first table or list on."""
    text = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return text[re.search(r"^[|-]", text, re.MULTILINE).start() :].rstrip("\n") + "\n"  # type: ignore[union-attr]


def _policy(policy: Policy) -> list[str]:
    window = f"; window {policy.window:,} unless known" if policy.window else ""
    below = "; ends once below" if policy.stop == "below" else ""
    hard = f"; hard limit {policy.guard.hard_limit:,}" if policy.guard.hard_limit else ""
    fires = "" if policy.trigger is None else _trigger(policy.trigger)
    return [
        f"`{policy.id}`",
        policy.title,
        f"`{policy.unit}`",
        f"{fires}{below}{hard}{window}".lstrip("; "),
        ", ".join(map(_stage, policy.stages)),
    ]


def _stage(stage: Stage) -> str:
    own = f" (if {_trigger(stage.trigger)})" if stage.trigger else ""
    usual = type(stage.layer)()
    limits = [(field.name, getattr(stage.layer, field.name)) for field in fields(stage.layer)]  # type: ignore[arg-type]
    told = "".join(f" `{name}` {_value(value)}" for name, value in limits if value != getattr(usual, name))
    when = "" if stage.when == "over" else f" ({stage.when})"
    return f"`{stage.layer.id}`{told}{when}{own}"


def _trigger(trigger: Trigger) -> str:
    sign = "≥" if trigger.inclusive else ">"
    scope = "prompt" if trigger.scope == "prompt" else "messages"
    of = "window" if trigger.of == "window" else "input limit"
    if trigger.kind == "ratio":
        return f"{scope} {sign} {trigger.value:g} of the {of}"
    if trigger.kind == "headroom":
        return f"{scope} {sign} {of} − {trigger.value:,g}"
    return (
        f"{sign} {trigger.value:,g} {trigger.kind}"
        if trigger.kind in ("messages", "events")
        else f"{scope} {sign} {trigger.value:,g} {trigger.kind}"
    )


def _source(policy: Policy) -> list[str]:
    one = policy.provenance
    return [f"`{policy.id}`", one.label, one.source, one.as_of, one.grade]


def _notes(policy: Policy) -> str:
    variants = [f"Variant `{one.id}` ({one.title}): {_settings(one)}." for one in policy.variants]
    return f"- `{policy.id}`: {' '.join((*policy.notes, *variants))}\n"


def _settings(variant: Variant) -> str:
    return ", ".join(f"`{name}` {_value(value)}" for name, value in variant.settings)


def _layer(kind: type[Layer]) -> list[str]:
    limits = ", ".join(f"`{field.name}` {_value(getattr(kind(), field.name))}" for field in fields(kind))  # type: ignore[arg-type]
    what = (inspect.getdoc(inspect.getmodule(kind)) or "").partition("\n")[0]
    return [f"`{kind.id}`", what, "yes" if kind.lossy else "no", f"`{kind.mechanism}`", limits]


def _value(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, int | float):
        return f"{value:,g}" if isinstance(value, float) else f"{value:,}"
    if isinstance(value, tuple):
        return ", ".join(map(_value, value)) or "none"
    return f'"{str(value).strip()}"' if value else "none"


def _table(heads: str, rows: list[list[str]]) -> str:
    lines = [heads.split(" | "), ["---"] * (heads.count(" | ") + 1), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') or '–' for cell in line)} |\n" for line in lines)


def written(page: str) -> str:
    """The page with the tables as they are now."""
    for heading, table in tables().items():
        before, mark, rest = page.partition(f"## {heading}\n")
        page = before + mark + rest.replace(section(page, heading), table, 1)
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
