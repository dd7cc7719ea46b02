"""Two texts side by side: lines first, then words inside changed lines; unchanged and long changed runs folded.

Indel opcodes of lines cost milliseconds where a word-level diff of whole texts is quadratic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rapidfuzz.distance import Indel

LINE_CHARS = 400  # longer lines are cut in the picture of the difference
KEPT_LINES = 3  # of a folded run, at each end
ALIKE = 0.5  # below this share of equal words two lines have nothing to do with each other, and no word is marked
BUDGET_CHARS = 4_096  # nothing more is sent unasked
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)

Sign = Literal[" ", "+", "−", "…"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffWord:
    text: str
    changed: bool


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
    lines = [line for run in _runs(old, new) for line in _folded(run)]
    shown = _within(lines, budget)
    blocks = Indel.opcodes(old, new)
    return Diff(
        removed=sum(block.src_end - block.src_start for block in blocks if block.tag == "delete"),
        added=sum(block.dest_end - block.dest_start for block in blocks if block.tag == "insert"),
        lines=tuple(shown),
        is_cut=is_cut or len(shown) < len(lines),
    )


def _runs(old: Sequence[str], new: Sequence[str]) -> Iterator[list[DiffLine]]:
    """Runs of lines of one sign. Lines that stand in each other's place are deleted ones first, with changed words marked."""
    deleted: list[DiffLine] = []
    inserted: list[DiffLine] = []
    for block in Indel.opcodes(old, new):
        if block.tag == "equal":
            yield from _paired(deleted, inserted)
            deleted, inserted = [], []
            pairs = zip(range(block.src_start, block.src_end), range(block.dest_start, block.dest_end), strict=True)
            yield [_line(" ", old[k], old=k + 1, new=m + 1) for k, m in pairs]
        else:
            deleted += [_line("−", old[k], old=k + 1) for k in range(block.src_start, block.src_end) if block.tag == "delete"]
            inserted += [_line("+", new[k], new=k + 1) for k in range(block.dest_start, block.dest_end) if block.tag == "insert"]
    yield from _paired(deleted, inserted)


def _line(sign: Sign, text: str, *, old: int | None = None, new: int | None = None) -> DiffLine:
    return DiffLine(sign=sign, old=old, new=new, words=(DiffWord(text=text[:LINE_CHARS], changed=False),), cut=len(text) > LINE_CHARS)


def _paired(deleted: list[DiffLine], inserted: list[DiffLine]) -> Iterator[list[DiffLine]]:
    for place in range(min(len(deleted), len(inserted))):
        deleted[place], inserted[place] = _marked(deleted[place], inserted[place])
    yield from (run for run in (deleted, inserted) if run)


def _marked(gone: DiffLine, come: DiffLine) -> tuple[DiffLine, DiffLine]:
    old, new = _WORD.findall(gone.words[0].text), _WORD.findall(come.words[0].text)
    if Indel.normalized_similarity(old, new) < ALIKE:
        return gone, come
    blocks = Indel.opcodes(old, new)
    kept = [(block.tag != "delete", "".join(old[block.src_start : block.src_end])) for block in blocks]
    come_in = [(block.tag != "insert", "".join(new[block.dest_start : block.dest_end])) for block in blocks]
    return replace(gone, words=_words(kept)), replace(come, words=_words(come_in))


def _words(parts: Sequence[tuple[bool, str]]) -> tuple[DiffWord, ...]:
    return tuple(DiffWord(text=text, changed=not same) for same, text in parts if text)


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
