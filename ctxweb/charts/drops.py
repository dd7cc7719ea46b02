"""Where the prompt fell: the lines, labels and icons of compactions on the context map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import median

from ctxweb.charts.scale import Scale, short

MOST_LABELLED = 12  # above it the track and the table carry the labels
LABEL_DISTANCE = 70.0  # px; of nearer labels only the larger drop's is written
ICON_DISTANCE = 16.0  # px, of several layers at one place
PLACE_DISTANCE = 24.0  # px, of two places: the least size of a target
INFERRED_LABEL_Y = 29.5  # px; under the window's line, over the highest call
FOOT_BELOW = 16.0  # px from the reported line down to the size after a drop, so that the line does not cross it
FOOT_ABOVE = 22.0  # px up from it where there is no room below
FOOT_LOWEST = 8.0  # px above the base
LEAST_FOOT = 46.0  # px; a shorter drop has no room for the size after it
UPPER_FLIP = 0.82  # from here on the upper label stands left of the line, above the peak
FOOT_FLIP = 0.93
LEAST_LINE = 1.0  # px; a shorter one without a label is a dot, and is left out
TRIGGER_SPREAD = 0.05  # automatic compactions that began this near to each other show one trigger
TRIGGER_ROUNDING = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Something left before call `before_call`. `before` and `after` are prompt sizes, None where neither a report nor an
    estimate exists; `estimated` says that they are estimates."""

    ordinal: int
    before_call: int
    action: str
    word: str
    inferred: bool
    before: int | None
    after: int | None
    estimated: bool = False
    trigger: str = "unknown"

    @property
    def change(self) -> int:
        return (self.after or 0) - (self.before or 0) if self.before is not None and self.after is not None else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DropLine:
    """A vertical at `percent` of the width from `y1` to `y2`; with labels where `labelled`. `*_end` marks right-aligned ones,
    `foot_y` is None where the size after it would stand in the way."""

    percent: float
    call: int
    action: str
    inferred: bool
    y1: float
    y2: float
    labelled: bool
    change: int
    after: int | None
    word: str
    estimated: bool
    upper_y: float
    upper_end: bool
    foot_y: float | None
    foot_end: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismIcon:
    """An icon in the mechanism track; `shift` px from the border, for several layers at one place."""

    percent: float
    shift: int
    action: str
    call: int
    ordinal: int


def drop_lines(drops: Sequence[Drop], *, scale: Scale) -> tuple[DropLine, ...]:
    joined = _joined(drops)
    labelled = _labelled(joined, scale)
    lines = []
    for place, drop in enumerate(joined):
        if drop.before is None or drop.after is None:
            continue
        lines.append(_line(drop, scale=scale, labelled=place in labelled))
    return tuple(lines)


def unlabelled(lines: Sequence[DropLine], *, scale: Scale) -> tuple[tuple[str, str], ...]:
    """(colour class, path in calls and px) of the lines without labels, as few paths as there are classes. A line shorter than
    `LEAST_LINE` px is a dot and is left out."""
    paths: dict[str, list[str]] = {}
    for line in lines:
        if not line.labelled and abs(line.y2 - line.y1) >= LEAST_LINE:
            x = round(line.percent * scale.calls / 100)
            path = f"M{x} {short(line.y1)}v{short(line.y2 - line.y1)}"
            paths.setdefault("inf" if line.inferred else f"e-{line.action}", []).append(path)
    return tuple((name, "".join(pieces)) for name, pieces in paths.items())


def _joined(drops: Sequence[Drop]) -> list[Drop]:
    """One drop a place: several layers before one call are one line, in the hue of the last, called `clear + summary`."""
    joined = []
    for _, group in groupby(sorted(drops, key=lambda drop: drop.before_call), key=lambda drop: drop.before_call):
        together = list(group)
        words = " + ".join(dict.fromkeys(drop.word for drop in together))
        joined.append(replace(together[-1], word=words, before=together[0].before, inferred=all(drop.inferred for drop in together)))
    return joined


def _labelled(drops: Sequence[Drop], scale: Scale) -> frozenset[int]:
    if len(drops) > MOST_LABELLED:
        return frozenset()
    kept: list[int] = []
    for place in sorted(range(len(drops)), key=lambda place: drops[place].change):
        near = (abs(scale.nominal(drops[place].before_call - drops[other].before_call)) < LABEL_DISTANCE for other in kept)
        if drops[place].change < 0 and not any(near):
            kept.append(place)
    return frozenset(kept)


def _line(drop: Drop, *, scale: Scale, labelled: bool) -> DropLine:
    x = drop.before_call - 1
    peak, foot = scale.y(drop.before or 0), scale.y(drop.after or 0)
    upper_end = x / scale.calls > UPPER_FLIP
    start = INFERRED_LABEL_Y + 4 if drop.inferred and labelled else peak
    return DropLine(
        percent=scale.percent(x),
        call=drop.before_call,
        action=drop.action,
        inferred=drop.inferred,
        y1=round(start, 1),
        y2=round(foot, 1),
        labelled=labelled,
        change=drop.change,
        after=drop.after,
        word=drop.word,
        estimated=drop.estimated,
        upper_y=round(_upper_y(drop, peak=peak, end=upper_end), 1),
        upper_end=upper_end,
        foot_y=round(_foot_y(foot, height=scale.height), 1) if foot - peak > LEAST_FOOT or upper_end else None,
        foot_end=x / scale.calls > FOOT_FLIP,
    )


def _upper_y(drop: Drop, *, peak: float, end: bool) -> float:
    """Beside the peak; above it near the right edge, where the text would leave the picture."""
    if drop.inferred:
        return INFERRED_LABEL_Y
    return max(peak - 27, 26) if end else peak + 11


def _foot_y(foot: float, *, height: float) -> float:
    """Under the reported line, which climbs from here on."""
    below = foot + FOOT_BELOW
    return below if below <= height - FOOT_LOWEST else foot - FOOT_ABOVE


def mechanism_icons(drops: Sequence[Drop], *, scale: Scale) -> tuple[MechanismIcon, ...]:
    """Icons of one place side by side, the first layer left; of places nearer than an icon only the first."""
    icons: list[MechanismIcon] = []
    reach = -PLACE_DISTANCE
    for call, together in groupby(sorted(drops, key=lambda drop: drop.before_call), key=lambda drop: drop.before_call):
        place = scale.nominal(call - 1)
        if place - reach < PLACE_DISTANCE:
            continue
        actions: dict[str, int] = {}
        for drop in together:
            actions.setdefault(drop.action, drop.ordinal)
        first = -round(ICON_DISTANCE * (len(actions) - 1) / 2)
        icons.extend(
            MechanismIcon(
                percent=scale.percent(call - 1), shift=first + round(ICON_DISTANCE) * at - 7, action=action, call=call, ordinal=ordinal
            )
            for at, (action, ordinal) in enumerate(actions.items())
        )
        reach = place + ICON_DISTANCE * (len(actions) - 1)
    return tuple(icons)


def trigger_of(drops: Sequence[Drop]) -> int | None:
    """The size at which automatic compactions began, rounded to thousands; None unless two or more agree."""
    sizes = [drop.before for drop in drops if drop.trigger == "auto" and not drop.inferred and not drop.estimated and drop.before]
    if len(sizes) < 2 or max(sizes) - min(sizes) > TRIGGER_SPREAD * max(sizes):
        return None
    return round(median(sizes) / TRIGGER_ROUNDING) * TRIGGER_ROUNDING
