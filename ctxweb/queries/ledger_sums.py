"""What each layer did, by compaction and in all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, F, Q, Sum

from ctxweb.models import Compaction
from ctxweb.queries.ledger import LedgerFilters, matching_edits
from ctxweb.queries.readable import Lane
from ctxweb.vocabulary import MECHANISM_ACTION


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerSum:
    """What one layer did in one compaction, or in all."""

    layer: str
    action: str
    edits: int
    tokens_before: int
    tokens_after: int
    never_sent: int


def layer_sums(*, lane: Lane, filters: LedgerFilters, compactions: Sequence[int]) -> dict[int, tuple[LayerSum, ...]]:
    """What each layer did in each of `compactions` (by key), by the ordinal of the compaction."""
    edits = matching_edits(lane=lane, filters=filters, compactions=compactions)
    grouped = edits.values("compaction__ordinal", "layer", "verb").annotate(
        edits=Count("pk"),
        before=Sum("tokens_before"),
        after=Sum("tokens_after"),
        unsent=Count("pk", filter=Q(never_sent=True)),
    )
    sums: dict[int, tuple[LayerSum, ...]] = {}
    for row in grouped.order_by("compaction__ordinal", "layer", "verb"):
        one = LayerSum(
            layer=row["layer"],
            action=row["verb"],
            edits=row["edits"],
            tokens_before=row["before"],
            tokens_after=row["after"],
            never_sent=row["unsent"],
        )
        sums[row["compaction__ordinal"]] = (*sums.get(row["compaction__ordinal"], ()), one)
    return sums


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTotal:
    """What a layer did over the whole history."""

    layer: str
    action: str
    edits: int
    removed: int
    never_sent: int
    compactions: int


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
    whole = _stored(lane)
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


def _counted(lane: Lane, filters: LedgerFilters) -> tuple[LayerTotal, ...]:
    rows = matching_edits(lane=lane, filters=filters).values("layer", "verb")
    sums = rows.annotate(
        count=Count("pk"),
        taken=Sum(F("tokens_before") - F("tokens_after")),
        unsent=Count("pk", filter=Q(never_sent=True)),
        groups=Count("compaction", distinct=True),
    )
    return _ranked(
        LayerTotal(
            layer=row["layer"],
            action=row["verb"],
            edits=row["count"],
            removed=row["taken"],
            never_sent=row["unsent"],
            compactions=row["groups"],
        )
        for row in sums
    )


def _ranked(layers: Iterable[LayerTotal]) -> tuple[LayerTotal, ...]:
    return tuple(sorted(layers, key=lambda layer: -layer.removed))
