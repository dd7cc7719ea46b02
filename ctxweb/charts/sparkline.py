"""The map in small, for a row of the session list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ctxweb.charts.bins import Bin

MOST_SPARK_BINS = 56
HEIGHT = 22
FLOOR = 22  # px; zero
CEILING = 2  # px; the window, or the peak where no window is known
OUTSIDE = 30  # px; the closing edges of the area lie outside the picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparkline:
    """Paths over `width` × 22, one unit a bin: the area with its upper edge, recorded drops, drops without a record,
    and how many of both."""

    width: int
    area: str
    recorded: str
    inferred: str
    has_window: bool
    drops: int


def spark_to_json(bins: Sequence[Bin], *, recorded: Iterable[int], inferred: Iterable[int]) -> dict[str, Any]:
    """What is stored with a session; a size is None where neither a report nor an estimate tells it.

    `recorded` and `inferred` are the calls before which something left.
    """
    place = {n: at for at, each in enumerate(bins) for n in range(each.first, each.last + 1)}
    return {
        "sizes": [each.call.size or None for each in bins],
        "recorded": sorted({place[n] for n in recorded if n in place}),
        "inferred": sorted({place[n] for n in inferred if n in place}),
    }


def sparkline(stored: dict[str, Any], *, window: int | None) -> Sparkline | None:
    """The drawing of a stored spark, None where the session has no call."""
    sizes = stored.get("sizes")
    if not sizes:
        return None
    carried = _carried(sizes)
    top = max(window or 0, *carried) or 1
    levels = [round(FLOOR - (FLOOR - CEILING) * size / top, 1) for size in carried]
    moves = [f"M-2 {OUTSIDE}"]
    for at, (level, before) in enumerate(zip(levels, [None, *levels], strict=False)):
        if level != before:
            moves.append(f"H{at}V{level:g}" if at else f"V{level:g}")
    return Sparkline(
        width=len(levels),
        area="".join(moves) + f"H{len(levels) + 2}V{OUTSIDE}z",
        recorded=_lines(stored["recorded"], levels),
        inferred=_lines(stored["inferred"], levels),
        has_window=window is not None,
        drops=len(stored["recorded"]) + len(stored["inferred"]),
    )


def _carried(sizes: Sequence[int | None]) -> list[int]:
    """An unknown size is drawn at the level before it, at the start at the first that is known: it is no drop to zero."""
    level = next((size for size in sizes if size), 0)
    carried = []
    for size in sizes:
        level = size or level
        carried.append(level)
    return carried


def _lines(places: Sequence[int], levels: Sequence[float]) -> str:
    """Verticals from the level before to the level after, long enough to be seen."""
    lines = []
    for place in places:
        before, after = levels[max(place - 1, 0)], levels[place]
        lines.append(f"M{place} {min(before, after):g}V{max(before, after, before + 4):g}")
    return "".join(lines)
