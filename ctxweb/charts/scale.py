"""Axes and paths that all pictures share. x is in calls, y in CSS pixels from the top."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HEADROOM = 1.05  # the window's line stays inside the picture
NOMINAL_WIDTH = 1010  # px of the plot at 1,440 px; distances between marks are judged by it
LABEL_ROOM = 50  # px between the last two labels of the x axis
LEAST_STEP = 0.25  # px; a smaller change writes no point
_GRID_STEPS = (  # up to this size: distance of the gridlines, in tokens
    (600, 100),
    (3_000, 500),
    (6_000, 1_000),
    (30_000, 5_000),
    (60_000, 10_000),
    (300_000, 50_000),
    (600_000, 100_000),
    (2_000_000, 200_000),
)
_LARGE_GRID_STEP = 500_000  # beyond the table, doubled until the lines are few
_MOST_GRIDLINES = 24  # however large a window somebody sets
_CALL_STEPS = ((12, 1), (60, 5), (120, 10), (400, 25), (2_000, 100), (6_000, 200))  # under so many calls: distance of the labels
_LARGEST_CALL_STEP = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """`calls` on the x axis, tokens 0…`top` on the y axis over `height` px."""

    calls: int
    top: float
    height: int

    def y(self, tokens: float) -> float:
        return self.height - self.px(tokens)

    def px(self, tokens: float) -> float:
        """Height in px of so many tokens."""
        return tokens * self.height / self.top

    def percent(self, x: float) -> float:
        """`x` calls from the left, in percent of the width."""
        return round(100 * x / self.calls, 3)

    def nominal(self, calls: float) -> float:
        """Width in px of so many calls in a plot of the nominal width."""
        return calls * NOMINAL_WIDTH / self.calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A label of an axis: `at` is px from the top on the y axis, percent from the left on the x axis."""

    at: float
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A level (px from the top, None = unknown) that holds from `x0` to `x1`."""

    x0: float
    x1: float
    y: float | None


def scale_for(*, calls: int, highest: int, window: int | None, height: int) -> Scale:
    """Zero-based; the larger of the window and the highest call stays inside."""
    return Scale(calls=max(calls, 1), top=HEADROOM * max(window or 0, highest, 100), height=height)


def gridlines(scale: Scale) -> tuple[Mark, ...]:
    reach = scale.top / HEADROOM
    step = next((step for limit, step in _GRID_STEPS if reach <= limit), _LARGE_GRID_STEP)
    while reach > _MOST_GRIDLINES * step:
        step *= 2
    return tuple(Mark(at=round(scale.y(tokens), 1), value=tokens) for tokens in range(0, int(scale.top) + 1, step))


def call_labels(calls: int) -> tuple[Mark, ...]:
    """Call numbers along the x axis, in the middle of their calls; the first and the last are among them."""
    step = next((step for limit, step in _CALL_STEPS if calls < limit), _LARGEST_CALL_STEP)
    numbers = [1, *range(step, calls, step), calls] if step > 1 else list(range(1, calls + 1))
    if len(numbers) > 2 and (calls - numbers[-2]) * NOMINAL_WIDTH / calls < LABEL_ROOM:
        del numbers[-2]
    return tuple(Mark(at=round(100 * (n - 0.5) / calls, 2), value=n) for n in dict.fromkeys(numbers) if n >= 1)


def short(value: float) -> str:
    """A coordinate with at most one decimal."""
    written = f"{value:.1f}"
    return written.removesuffix(".0")


def _runs(steps: Iterable[Step]) -> Iterable[list[tuple[float, float, float]]]:
    """Neighbouring steps of known level, those of one level joined."""
    run: list[tuple[float, float, float]] = []
    for step in steps:
        if step.y is None:
            if run:
                yield run
            run = []
        elif run and run[-1][1] == step.x0:
            x0, _, y = run[-1]
            if abs(y - step.y) < LEAST_STEP:
                run[-1] = (x0, step.x1, y)
            else:
                run.append((step.x0, step.x1, step.y))
        else:
            if run:
                yield run
            run = [(step.x0, step.x1, step.y)]
    if run:
        yield run


class _Pen:
    """Writes steps as relative moves: in a long lane half as long as absolute ones. Coordinates are kept in tenths, so nothing drifts."""

    def __init__(self) -> None:
        self._x = self._y = 0
        self._written: list[str] = []

    def begin(self, x: float, y: float) -> None:
        self._x, self._y = round(10 * x), round(10 * y)
        self._written.append(f"M{short(x)} {short(y)}")

    def level(self, y: float) -> None:
        change, self._y = round(10 * y) - self._y, round(10 * y)
        self._written.append(f"v{_tenths(change)}")

    def along(self, x: float) -> None:
        change, self._x = round(10 * x) - self._x, round(10 * x)
        self._written.append(f"h{_tenths(change)}")

    def close(self) -> None:
        self._written.append("z")

    def path(self) -> str:
        return "".join(self._written)


def _tenths(count: int) -> str:
    """A number of tenths as the shortest decimal: -3 is -.3."""
    whole, rest = divmod(abs(count), 10)
    sign = "-" if count < 0 else ""
    return f"{sign}{whole or ''}.{rest}" if rest else f"{sign}{whole}"


def step_line(steps: Iterable[Step]) -> str:
    """A step line that breaks where the level is unknown."""
    pen = _Pen()
    for run in _runs(steps):
        pen.begin(run[0][0], run[0][2])
        for place, (_, x1, y) in enumerate(run):
            if place:
                pen.level(y)
            pen.along(x1)
    return pen.path()


def step_area(steps: Iterable[Step], *, base: float) -> str:
    """The area between the steps and `base`, with gaps where the level is unknown."""
    pen = _Pen()
    for run in _runs(steps):
        pen.begin(run[0][0], base)
        for _, x1, y in run:
            pen.level(y)
            pen.along(x1)
        pen.level(base)
        pen.close()
    return pen.path()


def band(upper: Sequence[Step], lower: Sequence[Step]) -> str:
    """The areas in which `upper` lies above `lower`; both have the same borders."""
    pen = _Pen()
    run: list[tuple[Step, Step]] = []
    for pair in [*zip(upper, lower, strict=True), None]:
        if pair is not None and pair[0].y is not None and pair[1].y is not None and pair[0].y < pair[1].y - LEAST_STEP:
            run.append(pair)
            continue
        if run:
            _outline(run, pen)
        run = []
    return pen.path()


def _outline(run: Sequence[tuple[Step, Step]], pen: _Pen) -> None:
    pen.begin(run[0][0].x0, run[0][1].y or 0)
    for up, _ in run:
        pen.level(up.y or 0)
        pen.along(up.x1)
    for _, low in reversed(run):
        pen.level(low.y or 0)
        pen.along(low.x0)
    pen.close()


def point_count(path: str) -> int:
    """How many levels a path of these functions takes."""
    return path.count("v")
