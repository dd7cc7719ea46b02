"""The sizes of all calls in small, to move through them, and where something left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxweb.charts.bins import Bin, bins_from_json
from ctxweb.models import Compaction
from ctxweb.queries.readable import Lane

MOST_DROPS = 300
MOST_LINKS = 90
HEIGHT = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class StripLink:
    """A part of the strip that leads to a call; `x` and `width` in calls."""

    call: int
    x: int
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """One unit is one call. `area` are the sizes, `drops` a path of verticals; `later` and `earlier` are the next calls
    with a removal."""

    calls: int
    area: str
    drops: str
    links: tuple[StripLink, ...]
    earlier: int | None
    later: int | None


def strip(*, lane: Lane, n: int) -> Strip:
    """The strip of a lane with call `n` selected, from the bins that the import stored."""
    calls = lane.session.call_count
    drops = sorted(set(_drops(lane)))
    return Strip(
        calls=calls,
        area=_area(bins_from_json(lane.history.bins)) if lane.history.bins else "",
        drops="".join(f"M{drop - 1} 0V{HEIGHT + 2}" for drop in _apart(drops, calls)),
        links=_links(calls),
        earlier=max((drop for drop in drops if drop < n), default=None),
        later=min((drop for drop in drops if n < drop <= calls), default=None),
    )


def _drops(lane: Lane) -> list[int]:
    rows = Compaction.objects.filter(history=lane.history, before_call__isnull=False, detached=False)
    return [before for before in rows.values_list("before_call", flat=True) if before is not None]


def _apart(drops: Sequence[int], calls: int) -> list[int]:
    """The first drop of each of `MOST_DROPS` equal parts of the strip: nearer ones would be one line to the eye."""
    firsts: dict[int, int] = {}
    for drop in drops:
        firsts.setdefault(drop * MOST_DROPS // max(calls, 1), drop)
    return list(firsts.values())


def _area(bins: Sequence[Bin]) -> str:
    top = max((each.call.size for each in bins), default=0) or 1
    steps = "".join(f"V{round(HEIGHT - (HEIGHT - 2) * each.call.size / top, 1):g}h{each.last - each.first + 1}" for each in bins)
    return f"M0 {HEIGHT}{steps}V{HEIGHT}z" if bins else ""


def _links(calls: int) -> tuple[StripLink, ...]:
    width = max(1, -(-calls // MOST_LINKS))
    return tuple(StripLink(call=x + 1, x=x, width=min(width, calls - x)) for x in range(0, calls, width))
