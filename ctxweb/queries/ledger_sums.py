"""What each layer did, by compaction and in all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, Sum

from ctxweb.models import Compaction
from ctxweb.queries.ledger import EVERYTHING, LedgerFilters, matching_edits
from ctxweb.queries.readable import Lane
from ctxweb.vocabulary import MECHANISM_ACTION

MEASURED = ("own_before", "own_after", "exact_before", "exact_after")


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerSum:
    """What one layer did in one compaction, or in all. Of a replay also in the policy's own unit and in exact tokens."""

    layer: str
    action: str
    edits: int
    tokens_before: int
    tokens_after: int
    never_sent: int
    own_before: int | None = None
    own_after: int | None = None
    exact_before: int | None = None
    exact_after: int | None = None


def layer_sums(*, lane: Lane, filters: LedgerFilters, compactions: Sequence[int]) -> dict[int, tuple[LayerSum, ...]]:
    """What each layer did in each of `compactions` (by key), by the ordinal of the compaction."""
    edits = matching_edits(lane=lane, filters=filters, compactions=compactions)
    measured: dict[str, Any] = {name: Sum(name) for name in MEASURED} if lane.is_replayed else {}
    grouped = edits.values("compaction__ordinal", "layer", "verb").annotate(
        edits=Count("pk"),
        before=Sum("tokens_before"),
        after=Sum("tokens_after"),
        unsent=Count("pk", filter=Q(never_sent=True)),
        **measured,
    )
    sums: dict[int, tuple[LayerSum, ...]] = {}
    rows: Iterable[Any] = grouped.order_by("compaction__ordinal", "layer", "verb")
    for row in rows:
        one = LayerSum(
            layer=row["layer"],
            action=row["verb"],
            edits=row["edits"],
            tokens_before=row["before"],
            tokens_after=row["after"],
            never_sent=row["unsent"],
            **{name: row.get(name) for name in MEASURED},
        )
        sums[row["compaction__ordinal"]] = (*sums.get(row["compaction__ordinal"], ()), one)
    return sums


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTotal:
    """What a layer did over the whole history; `own_removed` in the policy's unit and `exact_removed` in exact tokens are known
    of a replay."""

    layer: str
    action: str
    edits: int
    removed: int
    never_sent: int
    compactions: int
    own_removed: int | None = None
    exact_removed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerTotals:
    """All matching edits: their number, the estimated tokens that they took, and how many of their blocks were never
    sent; `compactions` hold them. `unfiltered` counts the edits of the history, `names` are all its layers."""

    edits: int
    removed: int
    never_sent: int
    compactions: int
    unfiltered: int
    names: tuple[str, ...]
    layers: tuple[LayerTotal, ...]


def ledger_totals(*, lane: Lane, filters: LedgerFilters) -> LedgerTotals:
    """Without filters from the sums that each compaction carries, else from the edits."""
    whole = _counted(lane, EVERYTHING) if lane.is_replayed else _stored(lane)
    layers = _counted(lane, filters) if filters.any() else whole
    return LedgerTotals(
        edits=sum(layer.edits for layer in layers),
        removed=sum(layer.removed for layer in layers),
        never_sent=sum(layer.never_sent for layer in layers),
        compactions=sum(layer.compactions for layer in layers),
        unfiltered=sum(layer.edits for layer in whole),
        names=tuple(sorted({layer.layer for layer in whole})),
        layers=layers,
    )


def _stored(lane: Lane) -> tuple[LayerTotal, ...]:
    rows = Compaction.objects.filter(history=lane.history, edits__gt=0).values("layer", "mechanism")
    sums = rows.annotate(count=Sum("edits"), taken=Sum("removed"), unsent=Sum("never_sent"), groups=Count("pk"))
    return _ranked(
        LayerTotal(
            layer=row["layer"],
            action=MECHANISM_ACTION[row["mechanism"]],
            edits=row["count"],
            removed=row["taken"],
            never_sent=row["unsent"],
            compactions=row["groups"],
        )
        for row in sums
    )


_TAKEN = {"own": Sum(F("own_before") - F("own_after")), "exact": Sum(F("exact_before") - F("exact_after"))}


def _counted(lane: Lane, filters: LedgerFilters) -> tuple[LayerTotal, ...]:
    rows = matching_edits(lane=lane, filters=filters).values("layer", "verb")
    measured: dict[str, Any] = _TAKEN if lane.is_replayed else {}
    sums: Iterable[Any] = rows.annotate(
        count=Count("pk"),
        taken=Sum(F("tokens_before") - F("tokens_after")),
        unsent=Count("pk", filter=Q(never_sent=True)),
        groups=Count("compaction", distinct=True),
        **measured,
    )
    return _ranked(
        LayerTotal(
            layer=row["layer"],
            action=row["verb"],
            edits=row["count"],
            removed=row["taken"],
            never_sent=row["unsent"],
            compactions=row["groups"],
            own_removed=row.get("own"),
            exact_removed=row.get("exact"),
        )
        for row in sums
    )


def _ranked(layers: Iterable[LayerTotal]) -> tuple[LayerTotal, ...]:
    return tuple(sorted(layers, key=lambda layer: -layer.removed))
