"""What each layer did in one compaction of a replay, as it is stored with the compaction and shown on pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from compaction.counters.units import unit_named


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerRun:
    """One layer, in the policy's own unit (`own_*`) and in exact tokens. `skipped` says why it did not run or, where it `ran`, why
    it changed nothing; `asked` is how often a summary was asked for, `failed` how often none came."""

    layer: str
    title: str
    action: str
    ran: bool
    skipped: str
    own_before: int
    own_after: int
    exact_before: int
    exact_after: int
    edits: int
    asked: int
    failed: int


def unit_word(unit_id: str) -> str:
    """How figures in a unit are called on a page: `chars/4`."""
    return unit_named(unit_id).title.partition(" (")[0]


def in_both(own: int, exact: int, unit: str) -> str:
    """A size in the unit that decided and in exact tokens: `80,212 (chars/4) ≈ 71,480 exact tokens`; once where these are one."""
    return f"{exact:,} exact tokens" if unit == unit_word("exact") else f"{own:,} ({unit}) ≈ {exact:,} exact tokens"


def runs_to_json(runs: Iterable[LayerRun]) -> list[dict[str, Any]]:
    return [asdict(run) for run in runs]


def runs_from_json(stored: Iterable[Mapping[str, Any]]) -> tuple[LayerRun, ...]:
    return tuple(LayerRun(**run) for run in stored)
