"""Calls joined into bins, so that a picture of any session is bounded. Peaks stay true and a drop never lies inside a bin."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

MOST_BINS = 300
MOST_EDGES = 240  # of more drops, the first ones make edges


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFigures:
    """One call: reported prompt tokens (None unknown), estimates of its view by kind in the order of
    `vocabulary.KINDS`, the share of the prompt that was read from cache, and whether it brought new words of a person.
    `deciding` is the size of the view that a policy compared with its trigger, on the scale of the map."""

    n: int
    reported: int | None
    kinds: tuple[int, ...]
    cached: float | None = None
    human: bool = False
    deciding: float | None = None

    @property
    def estimate(self) -> int:
        return sum(self.kinds)

    @property
    def size(self) -> int:
        return self.reported if self.reported is not None else self.estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Calls `first`…`last`, shown by `call`, the one of the largest size. `cached` is the least share in the bin."""

    first: int
    last: int
    call: CallFigures


def kinds_per_call(spans: Iterable[tuple[int, int, int, int]], *, calls: int, kinds: int) -> list[tuple[int, ...]]:
    """Sums of estimates by kind for the calls 1…`calls`, of spans (kind's place, from_call, to_call, estimate)."""
    changes = [[0] * kinds for _ in range(calls + 2)]
    for kind, start, end, estimate in spans:
        changes[start][kind] += estimate
        changes[min(end, calls + 1)][kind] -= estimate
    sums, level = [], [0] * kinds
    for change in changes[1 : calls + 1]:
        level = [have + more for have, more in zip(level, change, strict=True)]
        sums.append(tuple(level))
    return sums


def binned(calls: Sequence[CallFigures], *, drops: Iterable[int], most: int = MOST_BINS) -> tuple[Bin, ...]:
    """At most `most` bins (more only where drops force edges); `drops` are the calls before which something left.

    Between two edges the bins are equal, their number by the length of the stretch.
    """
    if not calls:
        return ()
    count = len(calls)
    inner = sorted({n - 1 for n in drops if 1 < n <= count})[:MOST_EDGES]
    edges = [0, *inner, count]
    bins: list[Bin] = []
    for start, end in itertools.pairwise(edges):
        length = end - start
        pieces = max(1, min(length, round(most * length / count))) if count > most else max(1, length)
        borders = [start + round(length * piece / pieces) for piece in range(pieces + 1)]
        bins.extend(_bin(calls[a:b]) for a, b in itertools.pairwise(borders) if b > a)
    return tuple(bins)


def _bin(calls: Sequence[CallFigures]) -> Bin:
    top = max(calls, key=lambda call: call.size)
    known = [call.cached for call in calls if call.cached is not None]
    shown = CallFigures(
        n=top.n,
        reported=top.reported,
        kinds=top.kinds,
        cached=min(known) if known else None,
        human=any(call.human for call in calls),
        deciding=top.deciding,
    )
    return Bin(first=calls[0].n, last=calls[-1].n, call=shown)


def bins_to_json(bins: Sequence[Bin]) -> dict[str, Any]:
    """What is stored with a history; columns, so that names are not repeated."""
    return {
        "first": [each.first for each in bins],
        "call": [each.call.n for each in bins],
        "reported": [each.call.reported for each in bins],
        "kinds": [list(each.call.kinds) for each in bins],
        "cached": [None if each.call.cached is None else round(each.call.cached, 3) for each in bins],
        "human": [int(each.call.human) for each in bins],
        "calls": bins[-1].last if bins else 0,
    }


def bins_from_json(stored: dict[str, Any]) -> tuple[Bin, ...]:
    if not stored["first"]:
        return ()
    lasts = [first - 1 for first in stored["first"][1:]] + [stored["calls"]]
    columns = zip(
        stored["first"], lasts, stored["call"], stored["reported"], stored["kinds"], stored["cached"], stored["human"], strict=True
    )
    return tuple(
        Bin(
            first=first,
            last=last,
            call=CallFigures(n=n, reported=reported, kinds=tuple(kinds), cached=cached, human=bool(human)),
        )
        for first, last, n, reported, kinds, cached, human in columns
    )
