"""A measured figure, and the table of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

HEADINGS = ("case", "what", "figure", "beside", "ratio", "mark", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure of a case. `ratio` is the figure divided by that of what stands `beside` it.

    `mark` is the most that is wanted: of the ratio where there is one, else of the figure. None: nothing is wanted of it.
    """

    case: str
    what: str
    figure: float
    unit: str
    beside: str | None = None
    beside_figure: float | None = None
    mark: float | None = None

    @property
    def ratio(self) -> float | None:
        return None if self.beside_figure is None else self.figure / self.beside_figure

    @property
    def reached(self) -> bool | None:
        if self.mark is None:
            return None
        return (self.figure if self.ratio is None else self.ratio) <= self.mark

    def as_json(self) -> dict[str, str | float | bool | None]:
        names = ("case", "what", "figure", "unit", "beside", "beside_figure", "ratio", "mark", "reached")
        return {name: getattr(self, name) for name in names}


def table(rows: Iterable[Row]) -> str:
    cells = [HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells)


def _cells(row: Row) -> tuple[str, ...]:
    beside = "" if row.beside_figure is None else f"{row.beside} {_number(row.beside_figure)} {row.unit}"
    ratio = "" if row.ratio is None else f"{_number(row.ratio)} ×"
    mark = "" if row.mark is None else f"≤ {_number(row.mark)}{'' if row.ratio is None else ' ×'}"
    reached = {None: "", True: "reached", False: "missed"}[row.reached]
    return row.case, row.what, f"{_number(row.figure)} {row.unit}", beside, ratio, mark, reached


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
