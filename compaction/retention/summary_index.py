"""A summary, made searchable once: which of its lines holds the words of a statement, and which names stand in it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from compaction.retention.names import Name, base_name, names
from compaction.retention.words import content

MOST_LINES = 5_000  # of a summary that are read
MOST_CHARS = 400_000
COMMON = 200  # a word that stands in more lines tells nothing about a line


class Found(NamedTuple):
    """A line of a summary (from 1), and the share of the words asked for that stand in it or in the line after it."""

    line: int
    share: float


@dataclass(frozen=True)
class SummaryIndex:
    """`lines` are those of the summary, cut at the limits; `left_out` counts the characters that were cut."""

    lines: tuple[str, ...]
    left_out: int

    @classmethod
    def of(cls, summary: str) -> SummaryIndex:
        lines = tuple(summary[:MOST_CHARS].split("\n")[:MOST_LINES])
        return cls(lines=lines, left_out=len(summary) - len("\n".join(lines)))

    @cached_property
    def cased(self) -> str:
        """All of it as it stands."""
        return "\n".join(self.lines)

    @cached_property
    def text(self) -> str:
        """All of it in lower case."""
        return self.cased.lower()

    @cached_property
    def content(self) -> tuple[frozenset[str], ...]:
        """The stems of each line."""
        return tuple(content(line) for line in self.lines)

    @cached_property
    def names(self) -> Mapping[str, tuple[tuple[Name, int], ...]]:
        """The names by kind, each with its line."""
        found: dict[str, dict[Name, int]] = defaultdict(dict)
        for number, line in enumerate(self.lines, start=1):
            for name in names(line):
                found[name.kind].setdefault(name, number)
        return {kind: tuple(by_name.items()) for kind, by_name in found.items()}

    @cached_property
    def by_base_name(self) -> Mapping[str, tuple[tuple[Name, int], ...]]:
        """The paths by their last part."""
        found: dict[str, list[tuple[Name, int]]] = defaultdict(list)
        for name, line in self.names.get("path", ()):
            found[base_name(name.text).lower()].append((name, line))
        return {base: tuple(all_) for base, all_ in found.items()}

    @cached_property
    def _by_word(self) -> Mapping[str, tuple[int, ...]]:
        found: dict[str, list[int]] = defaultdict(list)
        for place, words in enumerate(self.content):
            for word in words:
                found[word].append(place)
        return {word: tuple(places) for word, places in found.items()}

    def best_line(self, words: Iterable[str]) -> Found | None:
        """Where most of the words stand; None where none does."""
        wanted = set(words)
        votes: Counter[int] = Counter()
        for word in sorted(wanted):
            places = self._by_word.get(word, ())
            if len(places) <= COMMON:
                votes.update({*places, *(place - 1 for place in places if place)})
        if not votes:
            return None
        most = max(votes.values())
        best = max(
            (place for place, count in votes.items() if count == most), key=lambda place: (len(self.content[place] & wanted), -place)
        )
        return Found(best + 1, most / len(wanted))

    def line_of(self, text: str) -> int | None:
        """The first line (from 1) that holds a text, in any case."""
        place = self.text.find(text.lower())
        return None if place < 0 else self.text.count("\n", 0, place) + 1
