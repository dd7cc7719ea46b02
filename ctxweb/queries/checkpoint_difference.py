"""What changed from one checkpoint to another: their lines, and which items of their ranges live on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from compaction.checkpoint_diff import CheckpointDiff, DiffRow, SectionDiff, diff_checkpoints
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.followed import Followed, FollowedItem
from ctxweb.checkpoints.ranges import checkpoint_text
from ctxweb.replays.lane import counter_of

MOST_COUNTED_CHARS = 400_000  # of a text whose sections are counted in tokens


class SectionSize(NamedTuple):
    """Exact tokens of a section in both texts; None where it is in one of them only, or where that is too much to be counted."""

    old: int | None
    new: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """`sizes` of the sections of `diff`, in its order."""

    diff: CheckpointDiff
    sizes: tuple[SectionSize, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LivesOn:
    """Of the items of both ranges: `still` in both checkpoints, `gone` since the old one, only in the new one (`come`), in neither
    of them (`lost`). `rows`: the gone ones first, the most used in front."""

    still: int
    gone: int
    come: int
    lost: int
    rows: tuple[FollowedItem, ...]
    left_out: int


def difference(*, old: Checkpoint, new: Checkpoint, encoding: str) -> Difference:
    """Line by line and word by word."""
    texts = checkpoint_text(old), checkpoint_text(new)
    diff = diff_checkpoints(*texts)
    if max(map(len, texts)) > MOST_COUNTED_CHARS:
        return Difference(diff=diff, sizes=(SectionSize(None, None),) * len(diff.sections))
    return Difference(diff=diff, sizes=tuple(_sizes(diff.sections, encoding)))


def lives_on(followed: Followed) -> LivesOn:
    """What two checkpoints, followed as a chain, say of the items of their ranges."""
    outcomes = [_outcome(row.cells) for row in followed.rows]
    order = {"gone": 0, "come": 1, "lost": 2, "still": 3}
    ranked = sorted(zip(outcomes, followed.rows, strict=True), key=lambda one: order[one[0]])
    return LivesOn(
        still=outcomes.count("still"),
        gone=outcomes.count("gone"),
        come=outcomes.count("come"),
        lost=outcomes.count("lost"),
        rows=tuple(row for _, row in ranked),
        left_out=followed.rows_left_out,
    )


def _outcome(cells: Sequence[str | None]) -> str:
    before, after = (cell in ("kept", "changed") for cell in cells)
    if before:
        return "still" if after else "gone"
    return "come" if after else "lost"


def _sizes(sections: Sequence[SectionDiff], encoding: str) -> Iterator[SectionSize]:
    count = counter_of(encoding)
    for section in sections:
        old = [row.old_words for row in section.rows if row.old is not None]
        new = [row.new_words for row in section.rows if row.new is not None]
        yield SectionSize(*(count(_text(side)) if side else None for side in (old, new)))


def _text(lines: Sequence[tuple[tuple[str, bool], ...]]) -> str:
    return "\n".join("".join(text for text, _ in words) for words in lines)


def line_text(row: DiffRow, side: str) -> str:
    """The whole line of a row on one side."""
    return "".join(word.text for word in (row.old_words if side == "old" else row.new_words))
