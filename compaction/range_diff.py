"""A checkpoint beside the range that it replaced: where each of its lines comes from, and how much of each block lives on.

The range is far longer than the checkpoint, so lines are not aligned in order: each line of the checkpoint is given the line
of the range that has most of its words, and the words between the two are marked as in any other difference.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from compaction.line_diff import DiffWord, changed_words, unmarked
from compaction.messages import BlockId
from compaction.retention.words import content
from compaction.sections import sections
from compaction.summarizers.quotes import Piece

TraceKind = Literal["heading", "quoted", "reworded", "own", "blank"]

MOST_SUMMARY_LINES = 5_000
MOST_RANGE_LINES = 100_000  # of the range, the first of each block first
MOST_BLOCK_LINES = 400  # of one block
MOST_LINE_CHARS = 1_000
LEAST_WORDS = 3  # of a line that can be traced
REWORDED_SHARE = 0.5  # of the words of a line in one line of the range
COMMON = 400  # a word that stands in more lines of the range tells no line from another
_LEAD = re.compile(r"\s*(?:\d+→|[-*•#>]+\s|\d{1,3}[.)]\s)*\s*")


class TracedLine(NamedTuple):
    """A line of the checkpoint (`number` from 1). `words` are marked against `source_words`, the line of block `source`.

    `quoted`: it stands there letter by letter, marks of lists apart; `reworded`: at least half of its words do, `share` of them;
    `own`: no line of the range has half of them; `heading`: not traced.
    """

    kind: TraceKind
    number: int
    words: tuple[DiffWord, ...]
    share: float = 0.0
    source: BlockId | None = None
    source_words: tuple[DiffWord, ...] = ()


class TracedSection(NamedTuple):
    """A section of the checkpoint."""

    heading: str
    lines: tuple[TracedLine, ...]


class Carried(NamedTuple):
    """A block of the range: how many lines of the checkpoint come from it."""

    block: BlockId
    lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeDiff:
    """`carried` in the order of the range, blocks that carry nothing left out: of `blocks` with text, that many are silent."""

    sections: tuple[TracedSection, ...]
    carried: tuple[Carried, ...]
    blocks: int
    range_lines_left_out: int
    summary_lines_left_out: int

    @property
    def counts(self) -> Mapping[TraceKind, int]:
        """How many lines of the checkpoint are what."""
        return Counter(line.kind for section in self.sections for line in section.lines)


def trace_checkpoint(pieces: Sequence[Piece], summary: str) -> RangeDiff:
    """Where a checkpoint's lines come from. Linear in the range, within the named limits."""
    every = summary.split("\n")
    lines = [line[:MOST_LINE_CHARS] for line in every[:MOST_SUMMARY_LINES]]
    wanted = frozenset().union(*map(content, lines)) if lines else frozenset()
    source = _Source.of(pieces, wanted)
    found = sections(lines)
    headings = {section.start for section in found if section.heading}
    traced = [
        TracedLine("heading", place + 1, unmarked(line)) if place in headings else source.traced(place + 1, line)
        for place, line in enumerate(lines)
    ]
    carried = Counter(line.source for line in traced if line.source is not None)
    return RangeDiff(
        sections=tuple(TracedSection(one.heading, tuple(traced[one.start : one.end])) for one in found),
        carried=tuple(Carried(block, carried[block]) for block in dict.fromkeys(piece.block.id for piece in pieces) if carried[block]),
        blocks=sum(bool(piece.text.strip()) for piece in pieces),
        range_lines_left_out=source.left_out,
        summary_lines_left_out=len(every) - len(lines),
    )


class _Line(NamedTuple):
    block: BlockId
    text: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Source:
    """The lines of a range that share a word with the checkpoint, by their text and by their words."""

    lines: tuple[_Line, ...]
    by_text: Mapping[str, int]
    by_word: Mapping[str, Sequence[int]]
    left_out: int

    @classmethod
    def of(cls, pieces: Iterable[Piece], wanted: frozenset[str]) -> _Source:
        lines: list[_Line] = []
        by_text: dict[str, int] = {}
        by_word: dict[str, list[int]] = defaultdict(list)
        left_out = 0
        for block, text in _lines(pieces):
            bare = _bare(text)
            if not bare or bare in by_text:
                continue
            if len(lines) >= MOST_RANGE_LINES:
                left_out += 1
                continue
            words = content(bare)
            by_text[bare] = len(lines)
            for word in words & wanted:
                by_word[word].append(len(lines))
            lines.append(_Line(block, text, words))
        return cls(tuple(lines), by_text, by_word, left_out)

    def traced(self, number: int, line: str) -> TracedLine:
        bare = _bare(line)
        if not bare:
            return TracedLine("blank", number, unmarked(line))
        place, words = self.by_text.get(bare), content(bare)
        if place is not None:
            return TracedLine("quoted", number, unmarked(line), 1.0, self.lines[place].block, unmarked(self.lines[place].text))
        place = self._nearest(words) if len(words) >= LEAST_WORDS else None
        share = len(words & self.lines[place].words) / len(words) if place is not None else 0.0
        if place is None or share < REWORDED_SHARE:
            return TracedLine("own", number, unmarked(line), share)
        marked = changed_words(self.lines[place].text, line) or (unmarked(self.lines[place].text), unmarked(line))
        return TracedLine("reworded", number, marked[1], share, self.lines[place].block, marked[0])

    def _nearest(self, words: frozenset[str]) -> int | None:
        """The line with most of the words; of several the shortest, then the first."""
        votes: Counter[int] = Counter()
        for word in words:
            places = self.by_word.get(word, ())
            if len(places) <= COMMON:
                votes.update(places)
        if not votes:
            return None
        most = max(votes.values())
        return min((place for place, count in votes.items() if count == most), key=lambda place: (len(self.lines[place].words), place))


def _lines(pieces: Iterable[Piece]) -> Iterator[tuple[BlockId, str]]:
    for piece in pieces:
        for line in piece.text.split("\n", MOST_BLOCK_LINES)[:MOST_BLOCK_LINES]:
            yield piece.block.id, line[:MOST_LINE_CHARS]


def _bare(line: str) -> str:
    """A line without indentation, line number, the mark of a list and quotes around it."""
    return _LEAD.sub("", line, count=1).strip(" \t*\"'`")
