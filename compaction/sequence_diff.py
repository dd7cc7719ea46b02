"""What two sequences share, in order: a longest common subsequence, held as bits of whole rows.

A row of the table is one integer, so n × m steps cost n operations on integers of m bits: 1,500 lines take about a
millisecond whatever they hold, and no input is worse than another of its length.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple


class Run(NamedTuple):
    """Items `old_start:old_end` of one sequence and `new_start:new_end` of the other: the same ones where `same`, else what
    stands in each other's place (either may be empty)."""

    same: bool
    old_start: int
    old_end: int
    new_start: int
    new_end: int


def runs(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Run]:
    """The sequences as runs that are the same and runs that differ, alternating. As much as can be is the same."""
    first = _shared_start(old, new)
    last = _shared_end(old, new, first)
    stretches = [(0, 0, first)]
    stretches += _stretches(_matches(old[first : len(old) - last], new[first : len(new) - last]), first)
    stretches.append((len(old) - last, len(new) - last, last))
    found: list[Run] = []
    at_old = at_new = begun_old = begun_new = 0
    for start_old, start_new, length in stretches:
        if start_old > at_old or start_new > at_new:
            if at_old > begun_old:
                found.append(Run(True, begun_old, at_old, begun_new, at_new))
            found.append(Run(False, at_old, start_old, at_new, start_new))
            begun_old, begun_new = start_old, start_new
        at_old, at_new = start_old + length, start_new + length
    if at_old > begun_old:
        found.append(Run(True, begun_old, at_old, begun_new, at_new))
    return found


def _shared_start(old: Sequence[Hashable], new: Sequence[Hashable]) -> int:
    place = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        place += 1
    return place


def _shared_end(old: Sequence[Hashable], new: Sequence[Hashable], first: int) -> int:
    place = 0
    for one, other in zip(reversed(old[first:]), reversed(new[first:]), strict=False):
        if one != other:
            break
        place += 1
    return place


def _matches(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The pairs of a longest common subsequence. Bit k of a row is clear where item k of `old` makes it longer."""
    if not old or not new:
        return []
    places: dict[Hashable, int] = {}
    for k, item in enumerate(old):
        places[item] = places.get(item, 0) | 1 << k
    full = (1 << len(old)) - 1
    row = full
    rows = [row]
    for item in new:
        hits = row & places.get(item, 0)
        row = ((row + hits) | (row - hits)) & full
        rows.append(row)
    return _traced(rows, len(old))


def _traced(rows: Sequence[int], length: int) -> list[tuple[int, int]]:
    k, m = length, len(rows) - 1
    pairs: list[tuple[int, int]] = []
    while k and m:
        bit = 1 << (k - 1)
        if rows[m] & bit:
            k -= 1
            continue
        m -= 1
        if rows[m] & bit:
            k -= 1
            pairs.append((k, m))
    return pairs[::-1]


def _stretches(pairs: Sequence[tuple[int, int]], shift: int) -> Iterator[tuple[int, int, int]]:
    """Neighbouring pairs as one stretch: where it starts on both sides, moved by `shift`, and its length."""
    start = 0
    for end in range(1, len(pairs) + 1):
        if end == len(pairs) or pairs[end] != (pairs[end - 1][0] + 1, pairs[end - 1][1] + 1):
            yield pairs[start][0] + shift, pairs[start][1] + shift, end - start
            start = end
