"""What each layer did, by compaction and in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from ctxweb.models import LedgerEntry
from ctxweb.queries.ledger import LedgerFilters, matching_edits
from ctxweb.queries.readable import Lane


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerSum:
    """What one layer did in one compaction, or in all."""

    layer: str
    action: str
    edits: int
    tokens_before: int
    tokens_after: int
    never_sent: int


def layer_sums(*, lane: Lane, filters: LedgerFilters, compactions: Sequence[int] | None = None) -> dict[int, tuple[LayerSum, ...]]:
    """What each layer did, by ordinal of the compaction; only in `compactions` where they are given."""
    edits = matching_edits(lane=lane, filters=filters)
    if compactions is not None:
        edits = edits.filter(compaction__ordinal__in=compactions)
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
class LedgerTotals:
    """All matching edits: their number, tokens, and how many of the blocks were never sent; `compactions` hold them."""

    edits: int
    tokens_before: int
    tokens_after: int
    never_sent: int
    compactions: int
    unfiltered: int


def ledger_totals(*, lane: Lane, filters: LedgerFilters) -> LedgerTotals:
    sums = matching_edits(lane=lane, filters=filters).aggregate(
        edits=Count("pk"),
        before=Sum("tokens_before"),
        after=Sum("tokens_after"),
        unsent=Count("pk", filter=Q(never_sent=True)),
        compactions=Count("compaction", distinct=True),
    )
    return LedgerTotals(
        edits=sums["edits"],
        tokens_before=sums["before"] or 0,
        tokens_after=sums["after"] or 0,
        never_sent=sums["unsent"],
        compactions=sums["compactions"],
        unfiltered=LedgerEntry.objects.filter(history=lane.history, adds=False).count(),
    )


def layers_in_all(*, lane: Lane, filters: LedgerFilters) -> tuple[LayerSum, ...]:
    """What each layer did over the whole history, the one that took most first."""
    sums: dict[tuple[str, str], list[int]] = {}
    for rows in layer_sums(lane=lane, filters=filters).values():
        for row in rows:
            total = sums.setdefault((row.layer, row.action), [0, 0, 0, 0])
            for place, figure in enumerate((row.edits, row.tokens_before, row.tokens_after, row.never_sent)):
                total[place] += figure
    ranked = sorted(sums.items(), key=lambda item: -item[1][1])
    return tuple(
        LayerSum(layer=layer, action=action, edits=edits, tokens_before=before, tokens_after=after, never_sent=unsent)
        for (layer, action), (edits, before, after, unsent) in ranked
    )
