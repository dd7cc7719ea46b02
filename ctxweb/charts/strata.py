"""Blocks as ribbons: a prompt only grows at its end, so a block keeps its height from birth to removal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ctxweb.charts.scale import Scale, short

THIN = 1.1  # px; a thinner run takes the next block in
ALONE = 6.0  # px; from here on a ribbon stands alone, with a link
MOST_WORK = 250_000  # segments × spans; above it the map is by kind
MOST_ALONE = 150  # links in one map; the largest ribbons get them
LABEL_HEIGHT = 13.0
LABEL_LENGTH = 90.0  # px
LETTER = 5.7  # px, the widest average of a label's letters
NARROWEST = 675  # px of the plot in the narrowest layout with a side panel


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A block in one state, visible in the calls `start` ≤ n < `end`, at its place in prompt order."""

    block: str
    kind: str
    start: int
    end: int
    estimate: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ribbon:
    """A block of at least `ALONE` px, drawn alone. `first`…`last` are the calls of the whole span."""

    block: str
    kind: str
    name: str
    estimate: int
    first: int
    last: int
    x: int
    y: float
    width: int
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RibbonLabel:
    """A label inside a ribbon, ending at `percent` of the width, on the line `y`."""

    kind: str
    name: str
    estimate: int
    percent: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """`merged`: one path of all thin ribbons per kind, in the order of first use."""

    ribbons: tuple[Ribbon, ...]
    merged: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Run:
    """Thin neighbours that are drawn as one rectangle; the largest of them names the colour."""

    kind: str
    birth: int
    height: float
    largest: float

    def takes(self, kind: str, birth: int) -> bool:
        return self.height < THIN or (self.kind == kind and abs(self.birth - birth) <= 1)

    def add(self, kind: str, birth: int, height: float) -> None:
        self.height += height
        if height > self.largest:
            self.kind, self.birth, self.largest = kind, birth, height


def cuts_of(layers: Sequence[Layer], *, calls: int) -> tuple[int, ...]:
    """Borders between calls at which an earlier block changed, 0 and `calls` among them. `layers` in prompt order."""
    cuts = {0, calls}
    cuts.update(layer.end - 1 for layer in layers if layer.end <= calls)
    earliest_behind = calls + 1
    for layer in reversed(layers):
        if layer.start > earliest_behind:  # it was put in front of an older block
            cuts.add(layer.start - 1)
        earliest_behind = min(earliest_behind, layer.start)
    return tuple(sorted(cuts))


def is_too_much(layers: Sequence[Layer], cuts: Sequence[int]) -> bool:
    return len(layers) * (len(cuts) - 1) > MOST_WORK


def strata(layers: Sequence[Layer], *, cuts: Sequence[int], overhead: int, scale: Scale) -> Strata:
    """Lay the blocks out, segment by segment, from `overhead` tokens upwards."""
    ribbons: list[Ribbon] = []
    merged: dict[str, list[str]] = {}
    for start, end in pairwise(cuts):
        level = scale.y(overhead)
        run: _Run | None = None
        for layer in layers:
            if layer.start > end or layer.end <= start + 1:
                continue
            x, height = max(layer.start, start + 1) - 1, scale.px(layer.estimate)
            if height >= ALONE:
                level, run = _flush(run, level, end, merged), None
                ribbons.append(_ribbon(layer, x=x, end=end, top=level - height, height=height))
                level -= height
            elif run is not None and run.takes(layer.kind, x):
                run.add(layer.kind, x, height)
            else:
                level = _flush(run, level, end, merged)
                run = _Run(kind=layer.kind, birth=x, height=height, largest=height)
        _flush(run, level, end, merged)
    return _largest_alone(ribbons, merged)


def _flush(run: _Run | None, level: float, end: int, merged: dict[str, list[str]]) -> float:
    if run is None:
        return level
    top = level - run.height
    merged.setdefault(run.kind, []).append(_rectangle(run.birth, top, end - run.birth, run.height))
    return top


def _rectangle(x: int, y: float, width: int, height: float) -> str:
    return f"M{x} {short(y)}h{width}v{short(height)}h{-width}z"


def _ribbon(layer: Layer, *, x: int, end: int, top: float, height: float) -> Ribbon:
    return Ribbon(
        block=layer.block,
        kind=layer.kind,
        name=layer.name,
        estimate=layer.estimate,
        first=layer.start,
        last=layer.end - 1,
        x=x,
        y=round(top, 1),
        width=end - x,
        height=round(height, 1),
    )


def _largest_alone(ribbons: list[Ribbon], merged: dict[str, list[str]]) -> Strata:
    """Beyond `MOST_ALONE`, the smaller ribbons join the paths of their kind."""
    alone = sorted(ribbons, key=lambda ribbon: ribbon.width * ribbon.height, reverse=True)[:MOST_ALONE]
    kept = {id(ribbon) for ribbon in alone}
    for ribbon in ribbons:
        if id(ribbon) not in kept:
            merged.setdefault(ribbon.kind, []).append(_rectangle(ribbon.x, ribbon.y, ribbon.width, ribbon.height))
    return Strata(
        ribbons=tuple(ribbon for ribbon in ribbons if id(ribbon) in kept),
        merged=tuple((kind, "".join(pieces)) for kind, pieces in merged.items()),
    )


def ribbon_labels(ribbons: Iterable[Ribbon], *, line: Sequence[float | None], scale: Scale) -> tuple[RibbonLabel, ...]:
    """Labels of the ribbons that are high and long enough, where the reported line (`line[n-1]`, px) stays above them."""
    labels = []
    for ribbon in ribbons:
        length = ribbon.width * NARROWEST / scale.calls
        if ribbon.height < LABEL_HEIGHT or length < LABEL_LENGTH:
            continue
        letters = int((length - 12) / LETTER)
        y = ribbon.y + ribbon.height / 2 + 3.8
        covered = max(1, round(min(letters, len(ribbon.name) + 8) * LETTER * scale.calls / NARROWEST))
        end = ribbon.x + ribbon.width
        over = [level for level in line[max(end - covered, 0) : end] if level is not None]
        if any(level > y - LABEL_HEIGHT + 2 for level in over):
            continue
        labels.append(
            RibbonLabel(
                kind=ribbon.kind, name=_cut(ribbon.name, letters - 8), estimate=ribbon.estimate, percent=scale.percent(end), y=round(y, 1)
            )
        )
    return tuple(labels)


def _cut(name: str, letters: int) -> str:
    return name if len(name) <= letters else name[: max(letters - 1, 1)] + "…"
