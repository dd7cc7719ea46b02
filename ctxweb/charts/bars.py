"""Small bars: shares of a whole side by side, a figure against a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 100
HOT = 0.8  # of the window; from here on a peak is drawn in the text's colour


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a bar of `WIDTH` units; `name` is its colour class."""

    name: str
    x: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakBar:
    """A figure against its limit, in 78 units; `hot` where it came near."""

    width: float
    hot: bool


def share_bar(parts: Sequence[tuple[str, int]]) -> tuple[Part, ...]:
    """Parts (colour class, figure) side by side, in the given order; nothing where all figures are 0."""
    total = sum(figure for _, figure in parts)
    drawn, x = [], 0.0
    for name, figure in parts:
        width = WIDTH * figure / total if total else 0.0
        if width:
            drawn.append(Part(name=name, x=round(x, 2), width=round(width, 2)))
        x += width
    return tuple(drawn)


def peak_bar(*, figure: int | None, limit: int | None) -> PeakBar | None:
    """None where either is unknown; a figure over its limit fills the bar."""
    if figure is None or not limit:
        return None
    share = min(figure / limit, 1.0)
    return PeakBar(width=round(78 * share, 1), hot=share >= HOT)
