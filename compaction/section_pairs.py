"""Which section of one checkpoint is which of another: by heading first, then by what stands under them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from compaction.line_diff import likeness, words_of
from compaction.sections import Section
from compaction.sequence_diff import runs

ALIKE_SECTIONS = 0.4  # share of words that two sections under different headings have in common
MOST_COMPARED = 60  # sections of each text that are compared by what they hold


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionPair:
    """A section of both texts, or of one. `moved`: the others that both texts have stand in another order around it."""

    old: Section | None
    new: Section | None
    moved: bool = False


def section_pairs(ours: Sequence[str], old: Sequence[Section], theirs: Sequence[str], new: Sequence[Section]) -> list[SectionPair]:
    """The sections in the order of the new text; one that is gone stands after the one that it followed."""
    partner = _by_heading(old, new)
    partner |= _by_words(ours, old, theirs, new, partner)
    steady = _steady(partner)
    pairs = [
        SectionPair(old=old[partner[m]] if m in partner else None, new=section, moved=m in partner and m not in steady)
        for m, section in enumerate(new)
    ]
    return _with_gone(pairs, old)


def _by_heading(old: Sequence[Section], new: Sequence[Section]) -> dict[int, int]:
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for k, section in enumerate(old):
        waiting[section.key].append(k)
    return {m: waiting[section.key].popleft() for m, section in enumerate(new) if waiting.get(section.key)}


def _by_words(
    ours: Sequence[str], old: Sequence[Section], theirs: Sequence[str], new: Sequence[Section], partner: dict[int, int]
) -> dict[int, int]:
    taken = set(partner.values())
    left = [k for k in range(len(old)) if k not in taken][:MOST_COMPARED]
    right = [m for m in range(len(new)) if m not in partner][:MOST_COMPARED]
    ours_words = {k: _words(ours, old[k]) for k in left}
    theirs_words = {m: _words(theirs, new[m]) for m in right}
    scores = [(likeness(ours_words[k], theirs_words[m]), -abs(k - m), k, m) for k in left for m in right]
    found: dict[int, int] = {}
    used: set[int] = set()
    for score, _, k, m in sorted(scores, reverse=True):
        if score >= ALIKE_SECTIONS and k not in used and m not in found:
            found[m] = k
            used.add(k)
    return found


def _words(lines: Sequence[str], section: Section) -> frozenset[str]:
    return frozenset().union(*(words_of(line) for line in lines[section.start : section.end]))


def _steady(partner: dict[int, int]) -> set[int]:
    """The new places of pairs whose order is the same in both texts: as many as can be."""
    by_new = sorted(partner)
    by_old = sorted(partner, key=partner.__getitem__)
    return {by_old[k] for run in runs(by_old, by_new) if run.same for k in range(run.old_start, run.old_end)}


def _with_gone(pairs: list[SectionPair], old: Sequence[Section]) -> list[SectionPair]:
    """Each section that is gone after the one that it followed, where that is, else first."""
    followers: dict[int, list[SectionPair]] = defaultdict(list)
    kept = {pair.old.start for pair in pairs if pair.old is not None}
    after = -1
    for section in old:
        if section.start in kept:
            after = section.start
        else:
            followers[after].append(SectionPair(old=section, new=None))
    placed = list(followers[-1])
    for pair in pairs:
        placed.append(pair)
        placed += followers[pair.old.start] if pair.old is not None else []
    return placed
