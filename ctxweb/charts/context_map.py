"""The context map: prompt sizes over the calls, stacked by block or by kind, with every drop."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

from ctxweb.charts.bins import Bin, CallFigures, binned
from ctxweb.charts.drops import Drop, DropLine, MechanismIcon, drop_lines, mechanism_icons, trigger_of, unlabelled
from ctxweb.charts.scale import NOMINAL_WIDTH, Mark, Scale, Step, band, call_labels, gridlines, point_count, scale_for, step_area, step_line
from ctxweb.charts.strata import Layer, Ribbon, RibbonLabel, cuts_of, is_too_much, ribbon_labels, strata
from ctxweb.charts.tracks import Tracks, tracks_of
from ctxweb.vocabulary import KIND_NAMES

HEIGHT = 310
MOST_CALLS_IN_ORDER = 600
MOST_POINTS = 2_000  # of all areas by kind together
FEWEST_BINS = 40
MOST_COLUMNS = 100
LEAST_COLUMN = 8.0  # px
OVERHEAD = 0  # place of `system + tools` among the kinds

Stack = Literal["order", "kind"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MapFigures:
    """What is drawn. `overhead`: tokens below the first block that no record shows, None where nothing was reported.
    `layers` in prompt order, () for a map by kind; `bins` where the calls themselves are too many.

    Of a replay `trigger` and `limit` are the sizes that decided, on the scale of the map. `height` in px; `room` is the
    largest size of a map that is shown beside this one and shares its scale, `points` how many its areas may have together.
    """

    calls: int
    bins: tuple[Bin, ...]
    drops: tuple[Drop, ...]
    window: int | None
    window_is_assumed: bool
    overhead: int | None
    layers: tuple[Layer, ...] = ()
    trigger: float | None = None
    limit: float | None = None
    height: int = HEIGHT
    room: int = 0
    points: int = MOST_POINTS

    @property
    def highest(self) -> int:
        """The largest size in the picture."""
        sizes = (max(each.call.size, (self.overhead or 0) + each.call.estimate, round(each.call.deciding or 0)) for each in self.bins)
        return max(sizes, default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A strip that selects a call where no script runs."""

    call: int
    x: int
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextMap:
    """A drawing in units of one call by one pixel; `percent` places are for the annotations, which are not scaled.

    `drops` are those with labels, `cuts` the paths of the others by colour class. `figures` are the sizes that the script
    reads, a bin each, and `starts` the first calls of the bins where they are not the calls. `deciding` is the line of the sizes
    that a policy compared; `trigger` is inferred where no policy says it.
    """

    calls: int
    bins: int | None
    height: int
    stack: Stack
    hatch_scale: str
    grid: tuple[Mark, ...]
    call_labels: tuple[Mark, ...]
    window: Mark | None
    window_is_assumed: bool
    trigger: Mark | None
    trigger_is_inferred: bool
    trigger_percent: float
    limit: Mark | None
    overhead: int | None
    overhead_y: float
    hatch: str
    base: str
    areas: tuple[tuple[str, str], ...]
    ribbons: tuple[Ribbon, ...]
    labels: tuple[RibbonLabel, ...]
    over: str
    reported: str
    deciding: str
    drops: tuple[DropLine, ...]
    cuts: tuple[tuple[str, str], ...]
    icons: tuple[MechanismIcon, ...]
    tracks: Tracks
    columns: tuple[Column, ...]
    peak: int
    peak_is_estimate: bool
    figures: str
    starts: str
    drop_calls: str


def context_map(figures: MapFigures, *, stack: Stack) -> ContextMap:
    """Lay the picture out. A map in prompt order falls back to one by kind where it would cost too much."""
    overhead = figures.overhead or 0
    bins = figures.bins
    scale = scale_for(
        calls=figures.calls,
        highest=max(figures.highest, figures.room),
        window=figures.window,
        height=figures.height,
    )
    cuts = cuts_of(figures.layers, calls=figures.calls) if figures.layers else ()
    in_order = stack == "order" and bool(figures.layers) and not is_too_much(figures.layers, cuts)
    if not in_order:
        bins = _within_points(figures, overhead=overhead, scale=scale)
    return _drawing(figures, bins=bins, cuts=cuts if in_order else (), scale=scale)


def _within_points(figures: MapFigures, *, overhead: int, scale: Scale) -> tuple[Bin, ...]:
    """Fewer bins until all paths together have few enough points. Where drops alone force more bins than that, their edges go."""
    bins, drops = figures.bins, [drop.before_call for drop in figures.drops]
    points = _points(bins, overhead=overhead, scale=scale)
    while points > figures.points and len(bins) > FEWEST_BINS:
        most = max(FEWEST_BINS, int(len(bins) * min(figures.points / points, 0.9)))
        fewer = _coarser(bins, drops=drops, most=most)
        bins = fewer if len(fewer) < len(bins) else _coarser(bins, drops=(), most=most)
        points = _points(bins, overhead=overhead, scale=scale)
    return bins


def _points(bins: Sequence[Bin], *, overhead: int, scale: Scale) -> int:
    return sum(point_count(path) for _, path in kind_areas(bins, overhead=overhead, scale=scale))


def _coarser(bins: Sequence[Bin], *, drops: Sequence[int], most: int) -> tuple[Bin, ...]:
    """Bins of bins: the same rule over the calls that the bins show."""
    numbered = [_with_number(b.call, at) for at, b in enumerate(bins, 1)]
    starts = {b.first: at for at, b in enumerate(bins, 1)}
    edges = [starts[drop] for drop in drops if drop in starts]
    joined = binned(numbered, drops=edges, most=most)
    return tuple(
        Bin(first=bins[j.first - 1].first, last=bins[j.last - 1].last, call=_with_number(j.call, bins[j.call.n - 1].call.n)) for j in joined
    )


def _with_number(call: CallFigures, n: int) -> CallFigures:
    return replace(call, n=n)


def kind_areas(bins: Sequence[Bin], *, overhead: int, scale: Scale) -> list[tuple[int, str]]:
    """(place of the kind, its area down to the base), the uppermost first, so that each layer costs one edge."""
    kinds = len(bins[0].call.kinds) if bins else 0
    stacks = [[overhead + level for level in accumulate(each.call.kinds)] for each in bins]
    areas = []
    for kind in reversed(range(kinds)):
        if kind != OVERHEAD and not any(each.call.kinds[kind] for each in bins):
            continue
        steps = [Step(x0=b.first - 1, x1=b.last, y=scale.y(stack[kind])) for b, stack in zip(bins, stacks, strict=True)]
        areas.append((kind, step_area(steps, base=scale.height)))
    return areas


def _drawing(figures: MapFigures, *, bins: tuple[Bin, ...], cuts: tuple[int, ...], scale: Scale) -> ContextMap:
    overhead = figures.overhead or 0
    reported = [Step(x0=b.first - 1, x1=b.last, y=None if b.call.reported is None else scale.y(b.call.reported)) for b in bins]
    explained = [Step(x0=b.first - 1, x1=b.last, y=scale.y(overhead + b.call.estimate)) for b in bins]
    ribbons: tuple[Ribbon, ...] = ()
    labels: tuple[RibbonLabel, ...] = ()
    if cuts:
        laid = strata(figures.layers, cuts=cuts, overhead=overhead, scale=scale)
        areas, ribbons = laid.merged, laid.ribbons
        labels = ribbon_labels(ribbons, line=[step.y for step in reported], scale=scale)
    else:
        areas = tuple((KIND_NAMES[kind], path) for kind, path in kind_areas(bins, overhead=overhead, scale=scale))
    lines = drop_lines(figures.drops, scale=scale)
    inferred = trigger_of(figures.drops) if figures.trigger is None else None
    trigger = inferred if figures.trigger is None else figures.trigger
    deciding = [Step(x0=b.first - 1, x1=b.last, y=None if b.call.deciding is None else scale.y(b.call.deciding)) for b in bins]
    first_drop = min((drop.before_call - 1 for drop in figures.drops if not drop.inferred), default=0)
    top = max(bins, key=lambda each: each.call.size, default=None)
    return ContextMap(
        calls=figures.calls,
        bins=None if len(bins) == figures.calls else len(bins),
        height=scale.height,
        stack="order" if cuts else "kind",
        hatch_scale=f"{scale.calls / NOMINAL_WIDTH:.4f}",
        grid=gridlines(scale),
        call_labels=call_labels(figures.calls),
        window=Mark(at=round(scale.y(figures.window), 1), value=figures.window) if figures.window else None,
        window_is_assumed=figures.window_is_assumed,
        trigger=_line(trigger, scale),
        trigger_is_inferred=inferred is not None,
        trigger_percent=scale.percent(first_drop),
        limit=_line(figures.limit, scale),
        overhead=figures.overhead,
        overhead_y=round(scale.y(overhead), 1),
        hatch=step_area(reported, base=scale.height),
        base=step_area([Step(x0=0, x1=figures.calls, y=scale.y(overhead))], base=scale.height) if cuts and overhead else "",
        areas=areas,
        ribbons=ribbons,
        labels=labels,
        over=band(explained, reported),
        reported=step_line(reported),
        deciding=step_line(deciding),
        drops=tuple(line for line in lines if line.labelled),
        cuts=unlabelled(lines, scale=scale),
        icons=mechanism_icons(figures.drops, scale=scale),
        tracks=tracks_of(bins),
        columns=_columns(bins, scale=scale),
        peak=top.call.size if top else 0,
        peak_is_estimate=top is not None and top.call.reported is None,
        figures=" ".join(str(each.call.size) for each in bins),
        starts=" ".join(str(each.first) for each in bins) if len(bins) != figures.calls else "",
        drop_calls=" ".join(str(call) for call in dict.fromkeys(drop.before_call for drop in figures.drops)),
    )


def _line(size: float | None, scale: Scale) -> Mark | None:
    """A horizontal line; None for a size that is not set, or lies above the picture."""
    return Mark(at=round(scale.y(size), 1), value=round(size)) if size and size <= scale.top else None


def _columns(bins: Sequence[Bin], *, scale: Scale) -> tuple[Column, ...]:
    """At most `MOST_COLUMNS` strips of at least `LEAST_COLUMN` px."""
    count = min(len(bins), MOST_COLUMNS, int(NOMINAL_WIDTH / LEAST_COLUMN))
    borders = [round(len(bins) * at / count) for at in range(count + 1)] if count else []
    groups = [bins[a:b] for a, b in itertools.pairwise(borders) if b > a]
    return tuple(
        Column(call=group[len(group) // 2].call.n, x=group[0].first - 1, width=group[-1].last - group[0].first + 1) for group in groups
    )
