"""Two texts side by side: lines first, then words inside changed lines; unchanged and long changed runs folded.

A word-level difference of whole texts would be quadratic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from compaction.line_diff import DiffWord, changed_words
from compaction.sequence_diff import Run, runs

LINE_CHARS = 400  # longer lines are cut in the picture of the difference
KEPT_LINES = 3  # of a folded run, at each end
BUDGET_CHARS = 4_096  # nothing more is sent unasked

Sign = Literal[" ", "+", "−", "…"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """A line with its numbers in both texts (from 1); sign `…` stands for `folded` lines that are not shown."""

    sign: Sign
    old: int | None
    new: int | None
    words: tuple[DiffWord, ...] = ()
    folded: int = 0
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """`removed` and `added` count lines of what was compared. `is_cut`: a text was too long to be compared whole,
    or not all lines of the difference are shown."""

    removed: int
    added: int
    lines: tuple[DiffLine, ...]
    is_cut: bool


def diff_of(before: str, after: str, *, lines_compared: int, budget: int = BUDGET_CHARS) -> Diff:
    """The difference of the first `lines_compared` lines, in at most about `budget` characters of text."""
    old, new = before.split("\n"), after.split("\n")
    is_cut = max(len(old), len(new)) > lines_compared
    old, new = old[:lines_compared], new[:lines_compared]
    found = runs(old, new)
    lines = [line for run in _signed(old, new, found) for line in _folded(run)]
    shown = _within(lines, budget)
    changed = [run for run in found if not run.same]
    return Diff(
        removed=sum(run.old_end - run.old_start for run in changed),
        added=sum(run.new_end - run.new_start for run in changed),
        lines=tuple(shown),
        is_cut=is_cut or len(shown) < len(lines),
    )


def _signed(old: Sequence[str], new: Sequence[str], found: Sequence[Run]) -> Iterator[list[DiffLine]]:
    """Runs of lines of one sign. Lines that stand in each other's place are deleted ones first, with changed words marked."""
    for run in found:
        if run.same:
            pairs = zip(range(run.old_start, run.old_end), range(run.new_start, run.new_end), strict=True)
            yield [_line(" ", old[k], old=k + 1, new=m + 1) for k, m in pairs]
        else:
            deleted = [_line("−", old[k], old=k + 1) for k in range(run.old_start, run.old_end)]
            inserted = [_line("+", new[k], new=k + 1) for k in range(run.new_start, run.new_end)]
            yield from _paired(deleted, inserted)


def _line(sign: Sign, text: str, *, old: int | None = None, new: int | None = None) -> DiffLine:
    return DiffLine(sign=sign, old=old, new=new, words=(DiffWord(text=text[:LINE_CHARS], changed=False),), cut=len(text) > LINE_CHARS)


def _paired(deleted: list[DiffLine], inserted: list[DiffLine]) -> Iterator[list[DiffLine]]:
    for place in range(min(len(deleted), len(inserted))):
        deleted[place], inserted[place] = _marked(deleted[place], inserted[place])
    yield from (run for run in (deleted, inserted) if run)


def _marked(gone: DiffLine, come: DiffLine) -> tuple[DiffLine, DiffLine]:
    marked = changed_words(gone.words[0].text, come.words[0].text)
    return (gone, come) if marked is None else (replace(gone, words=marked[0]), replace(come, words=marked[1]))


def _folded(run: Sequence[DiffLine]) -> Sequence[DiffLine]:
    hidden = len(run) - 2 * KEPT_LINES
    if hidden <= 1:
        return run
    first = run[KEPT_LINES]
    return (*run[:KEPT_LINES], DiffLine(sign="…", old=first.old, new=first.new, folded=hidden), *run[-KEPT_LINES:])


def _within(lines: Sequence[DiffLine], budget: int) -> Sequence[DiffLine]:
    spent = 0
    for place, line in enumerate(lines):
        spent += sum(len(word.text) for word in line.words)
        if spent > budget:
            return lines[:place]
    return lines
