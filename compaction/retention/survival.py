"""Which items live on along a chain of checkpoints: a matrix of items and checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction.retention.items import Item, items_of
from compaction.retention.retained import Outcome, retained
from compaction.retention.summary_index import SummaryIndex
from compaction.summarizers.quotes import Piece

MOST_ROWS = 2_000  # the items used most; what is left out is counted
MOST_CHECKPOINTS = 200  # of a chain, from its end

Cell = Outcome | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLink:
    """One checkpoint of a chain: what was new in its range, and its text. An earlier checkpoint among the pieces is no source of items."""

    pieces: tuple[Piece, ...]
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvivalRow:
    """An item of the range of checkpoint `born` (from 0), and what became of it in each checkpoint: None before it was said."""

    item: Item
    born: int
    cells: tuple[Cell, ...]

    @property
    def lost_at(self) -> int | None:
        """The checkpoint from which on it is lost; None where the last one still has it."""
        last = max((place for place, cell in enumerate(self.cells) if cell in ("kept", "changed")), default=self.born - 1)
        return None if last == len(self.cells) - 1 else last + 1

    @property
    def came_back(self) -> bool:
        """Whether it was lost in one checkpoint and stands in a later one."""
        after = self.cells[self.born :]
        return any(cell == "lost" and set(after[place + 1 :]) & {"kept", "changed"} for place, cell in enumerate(after))


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival:
    """The rows in the order in which their items were said first. `kept[k]`: of the items said so far, how many checkpoint k
    still has."""

    rows: tuple[SurvivalRow, ...]
    checkpoints: int
    rows_left_out: int
    checkpoints_left_out: int

    @property
    def kept(self) -> tuple[tuple[int, int], ...]:
        """For each checkpoint: items that it has, of items said so far."""
        columns = [[row.cells[place] for row in self.rows if row.cells[place] is not None] for place in range(self.checkpoints)]
        return tuple((sum(cell != "lost" for cell in column), len(column)) for column in columns)


def survival(chain: Sequence[ChainLink]) -> Survival:
    """The matrix of a chain, the oldest checkpoint first. Time: items × checkpoints."""
    links = chain[-MOST_CHECKPOINTS:]
    indexes = [SummaryIndex.of(link.summary) for link in links]
    born: dict[str, tuple[int, Item]] = {}
    left_out = 0
    for place, link in enumerate(links):
        found = items_of(link.pieces)
        left_out += found.left_out
        for item in found.items:
            born.setdefault(item.id, (place, item))
    most = sorted(born.values(), key=lambda one: (-one[1].uses, one[0], one[1].id))[:MOST_ROWS]
    chosen = {item.id for _, item in most}
    said = frozenset(item.key for _, item in born.values())
    rows = [_row(place, item, indexes, said) for place, item in born.values() if item.id in chosen]
    return Survival(
        rows=tuple(rows),
        checkpoints=len(links),
        rows_left_out=left_out + len(born) - len(rows),
        checkpoints_left_out=len(chain) - len(links),
    )


def _row(born: int, item: Item, indexes: Sequence[SummaryIndex], said: frozenset[str]) -> SurvivalRow:
    cells: list[Cell] = [None] * born
    cells += [retained(item, index, said).outcome for index in indexes[born:]]
    return SurvivalRow(item=item, born=born, cells=tuple(cells))
