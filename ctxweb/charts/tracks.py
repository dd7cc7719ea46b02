"""The thin tracks under the map: cached share, words of a person. They share the map's x axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxweb.charts.bins import Bin
from ctxweb.charts.scale import Step, step_area

TRACK_BASE = 14.0  # px
TRACK_REACH = 12.0  # px of a share of 1
MISS = 0.5  # a call that read less than this share from cache is a miss


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracks:
    """Paths over 15 px; empty where there is nothing to draw."""

    cached: str
    misses: str
    human: str


def tracks_of(bins: Sequence[Bin]) -> Tracks:
    """A track of which no call knows anything is empty, and is then not drawn."""
    if not any(each.call.cached for each in bins):
        return Tracks(cached="", misses="", human=_human(bins))
    shares = [Step(x0=b.first - 1, x1=b.last, y=None if b.call.cached is None else TRACK_BASE - TRACK_REACH * b.call.cached) for b in bins]
    misses = [Step(x0=b.first - 1, x1=b.last, y=3 if b.call.cached is not None and b.call.cached < MISS else None) for b in bins]
    return Tracks(cached=step_area(shares, base=TRACK_BASE), misses=step_area(misses, base=TRACK_BASE), human=_human(bins))


def _human(bins: Sequence[Bin]) -> str:
    """A tick of a bit over half a call at each call that brought words of a person; runs of them where calls are binned."""
    if any(each.last > each.first for each in bins):
        return step_area((Step(x0=b.first - 1, x1=b.last, y=4 if b.call.human else None) for b in bins), base=13)
    ticks = []
    for each in bins:
        if each.call.human:
            ticks.append(f"M{each.first - 1} 4h.6v9h-.6z")
    return "".join(ticks)
