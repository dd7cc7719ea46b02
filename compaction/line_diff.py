"""Lines of two texts in each other's place: which is the old form of which, and which words changed inside them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from compaction.sequence_diff import runs

ALIKE = 0.5  # below this share of equal words two lines have nothing to do with each other, and no word is marked
SHARED_WORDS = 0.35  # share of distinct words from which one line may be the new form of another
MOST_PAIRS = 900  # of lines of one run that are compared with each other; in a longer run lines are paired by their place
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
_NAMED = re.compile(r"\w+")

Pair = tuple[int | None, int | None]


class DiffWord(NamedTuple):
    """A part of a line. The parts of a line, put together, are the line."""

    text: str
    changed: bool


def changed_words(old: str, new: str) -> tuple[tuple[DiffWord, ...], tuple[DiffWord, ...]] | None:
    """Both lines with their changed words marked, or None where they are not alike."""
    old_words, new_words = _WORD.findall(old), _WORD.findall(new)
    found = runs(old_words, new_words)
    same = sum(run.old_end - run.old_start for run in found if run.same)
    if 2 * same < ALIKE * (len(old_words) + len(new_words)):
        return None
    gone: list[DiffWord] = []
    come: list[DiffWord] = []
    for place, run in enumerate(found):
        left, right = "".join(old_words[run.old_start : run.old_end]), "".join(new_words[run.new_start : run.new_end])
        lone_blank = 0 < place < len(found) - 1 and left.isspace()  # between two changes it belongs to them
        gone.append(DiffWord(left, not run.same or lone_blank))
        come.append(DiffWord(right, not run.same or lone_blank))
    return _joined(gone), _joined(come)


def _joined(words: Sequence[DiffWord]) -> tuple[DiffWord, ...]:
    """Neighbours of one kind as one part."""
    parts: list[DiffWord] = []
    for word in words:
        if parts and parts[-1].changed == word.changed:
            parts[-1] = DiffWord(parts[-1].text + word.text, word.changed)
        elif word.text:
            parts.append(word)
    return tuple(parts)


def unmarked(line: str) -> tuple[DiffWord, ...]:
    """A line as one part that did not change."""
    return (DiffWord(text=line, changed=False),) if line else ()


def likeness(old: frozenset[str], new: frozenset[str]) -> float:
    """Two sets of words: 0 nothing in common … 1 the same."""
    total = len(old) + len(new)
    return 2 * len(old & new) / total if total else 0.0


def words_of(line: str) -> frozenset[str]:
    """The distinct words of a line, in lower case."""
    return frozenset(_NAMED.findall(line.lower()))


def paired(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Places of the lines that stand in each other's place, in order: alike ones together, all others alone. One line beside one
    is not compared here."""
    if len(old) == len(new) == 1:
        return [(0, 0)]
    ours, theirs = [words_of(line) for line in old], [words_of(line) for line in new]
    by_place = len(old) * len(new) > MOST_PAIRS
    if by_place or (len(old) == len(new) and all(likeness(*pair) >= SHARED_WORDS for pair in zip(ours, theirs, strict=True))):
        both = min(len(old), len(new))
        alike = [(k, k) for k in range(both) if likeness(ours[k], theirs[k]) >= SHARED_WORDS]
    else:
        alike = _best(ours, theirs)
    return _with_others(alike, len(old), len(new))


def _best(ours: Sequence[frozenset[str]], theirs: Sequence[frozenset[str]]) -> list[tuple[int, int]]:
    """The pairs, in order on both sides, whose likeness adds up to most."""
    scores = [[0.0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for k in range(len(ours) - 1, -1, -1):
        for m in range(len(theirs) - 1, -1, -1):
            alike = likeness(ours[k], theirs[m])
            scores[k][m] = max(scores[k + 1][m], scores[k][m + 1], scores[k + 1][m + 1] + alike if alike >= SHARED_WORDS else 0.0)
    k = m = 0
    pairs: list[tuple[int, int]] = []
    while k < len(ours) and m < len(theirs):
        if scores[k][m] == scores[k + 1][m]:
            k += 1
        elif scores[k][m] == scores[k][m + 1]:
            m += 1
        else:
            pairs.append((k, m))
            k, m = k + 1, m + 1
    return pairs


def _with_others(alike: Sequence[tuple[int, int]], olds: int, news: int) -> list[Pair]:
    pairs: list[Pair] = []
    at_old = at_new = 0
    for k, m in [*alike, (olds, news)]:
        pairs += [(left, None) for left in range(at_old, k)]
        pairs += [(None, come) for come in range(at_new, m)]
        if (k, m) != (olds, news):
            pairs.append((k, m))
        at_old, at_new = k + 1, m + 1
    return pairs
