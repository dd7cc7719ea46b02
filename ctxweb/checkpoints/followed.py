"""What became of the items of a chain in each of its checkpoints, as values that can be kept as JSON and read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compaction.retention.survival import Survival, SurvivalRow


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedItem:
    """A row of the matrix: an item, the checkpoint in whose range it came up (from 0), and what became of it in each (None before)."""

    id: str
    kind: str
    text: str
    place: str
    born: int
    cells: tuple[str | None, ...]
    lost_at: int | None
    came_back: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """The items of a chain: those first that its last checkpoint has lost and an earlier one had, then those
    that none had, the most used in front. `kept[k]`: of the items said so
    far, how many checkpoint k still has."""

    rows: tuple[FollowedItem, ...]
    kept: tuple[tuple[int, int], ...]
    rows_left_out: int


def followed_of(found: Survival) -> Followed:
    rows = sorted(found.rows, key=lambda row: (row.cells[-1] != "lost", not _was_carried(row), -row.item.uses, row.born, row.item.id))
    return Followed(
        rows=tuple(
            FollowedItem(
                id=row.item.id,
                kind=row.item.kind,
                text=row.item.text,
                place=str(row.item.places[-1]),
                born=row.born,
                cells=row.cells,
                lost_at=row.lost_at,
                came_back=row.came_back,
            )
            for row in rows
        ),
        kept=found.kept,
        rows_left_out=found.rows_left_out,
    )


def followed_from(data: Mapping[str, Any]) -> Followed:
    rows = tuple(FollowedItem(**{**one, "cells": tuple(one["cells"])}) for one in data["rows"])
    return Followed(rows=rows, kept=tuple((kept, said) for kept, said in data["kept"]), rows_left_out=data["rows_left_out"])


def _was_carried(row: SurvivalRow) -> bool:
    return any(cell in ("kept", "changed") for cell in row.cells)
