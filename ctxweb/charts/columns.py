"""Two calls as columns of their categories, with bands between them: what stayed, what came, what left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HEIGHT = 400.0
TOP = 26.0  # room for the label over the taller column
LEFT, RIGHT, WIDTH = 10, 214, 116


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPart:
    """A part of a column; `name` is its colour class."""

    name: str
    y: float
    height: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A call: its parts from the base upwards, and the place of its label. `over` is the height above the reported size of
    what is explained and was not sent any more."""

    call: int
    total: int
    x: int
    middle: float
    top: float
    label_y: float
    over: float
    parts: tuple[ColumnPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """From a part of the left column to the same category of the right one, as a path."""

    name: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    height: float
    columns: tuple[Column, ...]
    bands: tuple[Band, ...]


def columns(calls: Sequence[tuple[int, Sequence[tuple[str, int]]]]) -> Columns:
    """Of one or two calls, each with its categories (colour class, tokens) from the base upwards; all to one scale. A
    negative category is what the others hold too much: it veils the top of its column."""
    largest = max((_sum(parts) for _, parts in calls), default=0) or 1
    scale = (HEIGHT - TOP) / largest
    drawn = tuple(_column(call, parts, x, scale) for (call, parts), x in zip(calls, (LEFT, RIGHT), strict=False))
    return Columns(height=HEIGHT, columns=drawn, bands=_bands(*drawn) if len(drawn) == 2 else ())


def _sum(parts: Sequence[tuple[str, int]]) -> int:
    return sum(max(tokens, 0) for _, tokens in parts)


def _column(call: int, parts: Sequence[tuple[str, int]], x: int, scale: float) -> Column:
    y, drawn, total = HEIGHT, [], sum(tokens for _, tokens in parts)
    for name, tokens in parts:
        height = max(tokens, 0) * scale
        y -= height
        drawn.append(ColumnPart(name=name, y=round(y, 1), height=round(height, 1), tokens=tokens))
    return Column(
        call=call,
        total=total,
        x=x,
        middle=x + WIDTH / 2,
        top=round(y, 1),
        label_y=round(y - 8, 1),
        over=round((_sum(parts) - total) * scale, 1),
        parts=tuple(drawn),
    )


def _bands(left: Column, right: Column) -> tuple[Band, ...]:
    there = {part.name: part for part in right.parts}
    return tuple(Band(name=part.name, path=_band(part, there[part.name])) for part in left.parts if part.name in there and part.height >= 1)


def _band(left: ColumnPart, right: ColumnPart) -> str:
    a, b = LEFT + WIDTH, RIGHT
    return f"M{a} {left.y}L{b} {right.y}V{round(right.y + right.height, 1)}L{a} {round(left.y + left.height, 1)}z"
