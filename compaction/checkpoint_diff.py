"""The difference of two checkpoints: sections aligned by heading and likeness, then lines, then words inside changed lines.

A line that stands elsewhere in the other text is told to have moved. Each run of changes is a hunk whose id is made from what it
changes, so that a link to it holds as long as the change is the same.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from compaction.line_diff import ALIKE, DiffWord, changed_words, likeness, paired, unmarked, words_of
from compaction.moved_lines import moves
from compaction.section_pairs import SectionPair, section_pairs
from compaction.sections import Section, sections
from compaction.sequence_diff import runs

MOST_LINES = 20_000  # of each text that are compared
MOST_CHARS = 2 * 1024**2  # of each text
MOST_LINE_CHARS = 2_000  # of each line
MOST_MARKED_CHARS = 300_000  # of changed lines whose words are compared, too: that is the dear part
HUNK_ID_CHARS = 10

RowKind = Literal["same", "changed", "removed", "added"]
SectionKind = Literal["same", "changed", "removed", "added"]


class DiffRow(NamedTuple):
    """One line on one side or both, with its numbers (from 1), to be shown side by side.

    `moved_to` of a removed line is the number of the same line in the new text, `moved_from` of an added one that in the old.
    """

    kind: RowKind
    old: int | None = None
    new: int | None = None
    old_words: tuple[DiffWord, ...] = ()
    new_words: tuple[DiffWord, ...] = ()
    moved_to: int | None = None
    moved_from: int | None = None
    hunk: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionDiff:
    """A section of one text or of both. `moved`: it stands elsewhere among the others; its rows are those of its own text."""

    kind: SectionKind
    old_heading: str | None
    new_heading: str | None
    moved: bool
    rows: tuple[DiffRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Rows `start` to before `end` of section `section` (both from 0): a run of rows that are not the same."""

    id: str
    section: int
    start: int
    end: int
    removed: int
    added: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What was too much to be compared: lines after MOST_LINES or MOST_CHARS, characters after MOST_LINE_CHARS of a line, and
    changed lines whose words are not marked, after MOST_MARKED_CHARS."""

    old_lines: int = 0
    new_lines: int = 0
    chars: int = 0
    unmarked: int = 0

    def __bool__(self) -> bool:
        return bool(self.old_lines or self.new_lines or self.chars or self.unmarked)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointDiff:
    """`changed` counts rows with a line on both sides; `moved` the removed lines that stand elsewhere in the new text."""

    sections: tuple[SectionDiff, ...]
    hunks: tuple[Hunk, ...]
    same: int
    changed: int
    removed: int
    added: int
    moved: int
    left_out: LeftOut

    def hunk(self, hunk_id: str) -> Hunk | None:
        """The hunk with this id."""
        return next((hunk for hunk in self.hunks if hunk.id == hunk_id), None)


def diff_checkpoints(old: str, new: str) -> CheckpointDiff:
    """What changed from one text to the other. O(lines²) bits, within the named limits."""
    ours, theirs, left_out = _bounded(old, new)
    pairs = section_pairs(ours, sections(ours), theirs, sections(theirs))
    words = _Words(room=MOST_MARKED_CHARS)
    drawn = [_drawn(pair, ours, theirs, words) for pair in pairs]
    drawn = _with_moves(drawn, ours, theirs)
    named, hunks = _with_hunks(drawn)
    kinds = Counter(row.kind for section in named for row in section.rows)
    return CheckpointDiff(
        sections=tuple(named),
        hunks=tuple(hunks),
        same=kinds["same"],
        changed=kinds["changed"],
        removed=kinds["removed"],
        added=kinds["added"],
        moved=sum(row.moved_to is not None for section in named for row in section.rows),
        left_out=replace(left_out, unmarked=words.unmarked),
    )


def inline(rows: Iterable[DiffRow]) -> Iterator[DiffRow]:
    """The rows one under the other: of a run of changed rows the old lines first, then the new ones."""
    waiting: list[DiffRow] = []
    for row in rows:
        if row.kind == "changed":
            yield row._replace(kind="removed", new=None, new_words=())
            waiting.append(row._replace(kind="added", old=None, old_words=()))
            continue
        yield from waiting
        waiting = []
        yield row
    yield from waiting


def _bounded(old: str, new: str) -> tuple[list[str], list[str], LeftOut]:
    ours, our_chars = _lines(old)
    theirs, their_chars = _lines(new)
    left_out = LeftOut(
        old_lines=old.count("\n") + 1 - len(ours), new_lines=new.count("\n") + 1 - len(theirs), chars=our_chars + their_chars
    )
    return ours, theirs, left_out


def _lines(text: str) -> tuple[list[str], int]:
    """The lines that are compared, and how many characters of these are not."""
    lines = text[:MOST_CHARS].split("\n")[:MOST_LINES]
    kept = [line[:MOST_LINE_CHARS] for line in lines]
    return kept, sum(map(len, lines)) - sum(map(len, kept))


@dataclass(slots=True)
class _Words:
    """Compares lines by their words as long as there is room for so many characters."""

    room: int
    unmarked: int = 0

    def marked(self, old: str, new: str) -> tuple[tuple[DiffWord, ...], tuple[DiffWord, ...]] | None:
        """Both lines with their changed words marked, or None where they are not alike."""
        if self.room <= 0:
            self.unmarked += 1
            return (unmarked(old), unmarked(new)) if likeness(words_of(old), words_of(new)) >= ALIKE else None
        self.room -= len(old) + len(new)
        return changed_words(old, new)


def _drawn(pair: SectionPair, ours: Sequence[str], theirs: Sequence[str], words: _Words) -> SectionDiff:
    old, new = pair.old, pair.new
    if old is None or new is None:
        rows = tuple(_alone(old, ours, "removed") if new is None else _alone(new, theirs, "added"))
        kind: SectionKind = "removed" if new is None else "added"
    else:
        rows = tuple(_rows(ours, old, theirs, new, words))
        kind = "same" if all(row.kind == "same" for row in rows) else "changed"
    return SectionDiff(kind=kind, old_heading=_heading(old), new_heading=_heading(new), moved=pair.moved, rows=rows)


def _heading(section: Section | None) -> str | None:
    return None if section is None else section.heading


def _alone(section: Section | None, lines: Sequence[str], kind: RowKind) -> Iterator[DiffRow]:
    for place in range(section.start, section.end) if section is not None else ():
        yield _row(kind, lines, place if kind == "removed" else None, lines, place if kind == "added" else None)


def _row(kind: RowKind, ours: Sequence[str], k: int | None, theirs: Sequence[str], m: int | None) -> DiffRow:
    old_words = () if k is None else unmarked(ours[k])
    new_words = () if m is None else unmarked(theirs[m])
    return DiffRow(kind, None if k is None else k + 1, None if m is None else m + 1, old_words, new_words)


def _rows(ours: Sequence[str], old: Section, theirs: Sequence[str], new: Section, compared: _Words) -> Iterator[DiffRow]:
    left, right = ours[old.start : old.end], theirs[new.start : new.end]
    for run in runs(left, right):
        if run.same:
            shift = new.start + run.new_start - old.start - run.old_start
            for number, line in enumerate(left[run.old_start : run.old_end], start=old.start + run.old_start + 1):
                words = unmarked(line)
                yield DiffRow("same", number, number + shift, words, words)
        else:
            for k, m in paired(left[run.old_start : run.old_end], right[run.new_start : run.new_end]):
                at_old = None if k is None else old.start + run.old_start + k
                at_new = None if m is None else new.start + run.new_start + m
                yield from _changed(ours, at_old, theirs, at_new, compared)


def _changed(ours: Sequence[str], k: int | None, theirs: Sequence[str], m: int | None, compared: _Words) -> Iterator[DiffRow]:
    """One row where the lines are alike, else one for each of them."""
    marked = None if k is None or m is None else compared.marked(ours[k], theirs[m])
    if marked is not None:
        yield _row("changed", ours, k, theirs, m)._replace(old_words=marked[0], new_words=marked[1])
        return
    if k is not None:
        yield _row("removed", ours, k, theirs, None)
    if m is not None:
        yield _row("added", ours, None, theirs, m)


def _with_moves(drawn: Sequence[SectionDiff], ours: Sequence[str], theirs: Sequence[str]) -> list[SectionDiff]:
    rows = [row for section in drawn for row in section.rows]
    gone = [(row.old, ours[row.old - 1]) for row in rows if row.kind == "removed" and row.old]
    come = [(row.new, theirs[row.new - 1]) for row in rows if row.kind == "added" and row.new]
    moved_to = moves(gone, come)
    if not moved_to:
        return list(drawn)
    moved_from = {new: old for old, new in moved_to.items()}
    return [replace(section, rows=tuple(_moved(row, moved_to, moved_from) for row in section.rows)) for section in drawn]


def _moved(row: DiffRow, moved_to: Mapping[int, int], moved_from: Mapping[int, int]) -> DiffRow:
    if row.kind == "removed" and row.old is not None and row.old in moved_to:
        return row._replace(moved_to=moved_to[row.old])
    if row.kind == "added" and row.new is not None and row.new in moved_from:
        return row._replace(moved_from=moved_from[row.new])
    return row


def _with_hunks(drawn: Sequence[SectionDiff]) -> tuple[list[SectionDiff], list[Hunk]]:
    named: list[SectionDiff] = []
    hunks: list[Hunk] = []
    taken: Counter[str] = Counter()
    for place, section in enumerate(drawn):
        rows = list(section.rows)
        for start, end in _stretches(rows):
            digest = _digest(section, rows[start:end])
            taken[digest] += 1
            hunk_id = digest if taken[digest] == 1 else f"{digest}-{taken[digest]}"
            rows[start:end] = [row._replace(hunk=hunk_id) for row in rows[start:end]]
            removed = sum(row.old is not None for row in rows[start:end])
            added = sum(row.new is not None for row in rows[start:end])
            hunks.append(Hunk(id=hunk_id, section=place, start=start, end=end, removed=removed, added=added))
        named.append(replace(section, rows=tuple(rows)))
    return named, hunks


def _stretches(rows: Sequence[DiffRow]) -> Iterator[tuple[int, int]]:
    start: int | None = None
    for place, row in enumerate(rows):
        if row.kind != "same" and start is None:
            start = place
        elif row.kind == "same" and start is not None:
            yield start, place
            start = None
    if start is not None:
        yield start, len(rows)


def _digest(section: SectionDiff, rows: Sequence[DiffRow]) -> str:
    """Made from the heading and the changed lines, not from their numbers: a line more above does not break a link."""
    parts = [section.new_heading or section.old_heading or ""]
    parts += [f"-{''.join(word.text for word in row.old_words)}" for row in rows if row.old is not None]
    parts += [f"+{''.join(word.text for word in row.new_words)}" for row in rows if row.new is not None]
    return "h-" + hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:HUNK_ID_CHARS]
