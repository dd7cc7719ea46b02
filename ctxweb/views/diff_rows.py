"""The rows of a difference as a page shows them: sections, folded runs, lines one under the other or side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from compaction.checkpoint_diff import DiffRow, SectionDiff, inline
from compaction.line_diff import DiffWord
from ctxweb.queries.body import markup_size
from ctxweb.queries.checkpoint_difference import Difference, SectionSize

KEPT = 2  # lines of a folded run, at each end
LINE_CHARS = 600  # of a line on the page
ROWS = 160  # of a window, and at most so many bytes of it
BYTES = 48_000
ROW_BYTES = 150  # of a row's markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row. `kind` is section, fold, same, changed, removed or added. `size` and `section` are those of a section, `folded` of a
    fold: so many unchanged lines. `begins`: the hunk of this id begins here."""

    kind: str
    old: int | None = None
    new: int | None = None
    old_words: tuple[DiffWord, ...] = ()
    new_words: tuple[DiffWord, ...] = ()
    moved: int | None = None
    begins: str = ""
    section: SectionDiff | None = None
    size: SectionSize | None = None
    folded: int = 0
    is_cut: bool = False


def lines_of(found: Difference, *, side: bool, whole: bool) -> list[Line]:
    """All rows; unchanged runs are folded unless all of it is asked for."""
    lines: list[Line] = []
    seen: set[str] = set()
    for section, size in zip(found.diff.sections, found.sizes, strict=True):
        lines.append(Line(kind="section", section=section, size=size))
        rows = section.rows if side else tuple(inline(section.rows))
        for line in _lines(rows) if whole else _folded(rows):
            lines.append(replace(line, begins="") if line.begins in seen else line)
            seen.add(line.begins)
    return lines


def window(lines: Sequence[Line], start: int) -> Sequence[Line]:
    """As many from `start` on as a page can hold."""
    room = BYTES
    for place in range(start, min(len(lines), start + ROWS)):
        room -= ROW_BYTES + sum(markup_size(word.text) for word in (*lines[place].old_words, *lines[place].new_words))
        if room < 0 and place > start:
            return lines[start:place]
    return lines[start : start + ROWS]


def _lines(rows: Iterable[DiffRow]) -> Iterator[Line]:
    for row in rows:
        old, new = _cut(row.old_words), _cut(row.new_words)
        yield Line(
            kind=row.kind,
            old=row.old,
            new=row.new,
            old_words=old,
            new_words=new,
            moved=row.moved_to if row.moved_to is not None else row.moved_from,
            begins=row.hunk,
            is_cut=old != row.old_words or new != row.new_words,
        )


def _folded(rows: Sequence[DiffRow]) -> Iterator[Line]:
    start = 0
    for end in range(1, len(rows) + 1):
        if end == len(rows) or (rows[end].kind == "same") != (rows[start].kind == "same"):
            yield from _run(rows, start, end)
            start = end


def _run(rows: Sequence[DiffRow], start: int, end: int) -> Iterator[Line]:
    """A run of rows that are all the same, or all not: of the former the ends that stand beside a change."""
    head = KEPT if start else 0
    tail = KEPT if end < len(rows) else 0
    if rows[start].kind != "same" or end - start <= head + tail + 1:
        yield from _lines(rows[start:end])
        return
    yield from _lines(rows[start : start + head])
    first = rows[start + head]
    yield Line(kind="fold", old=first.old, new=first.new, folded=end - start - head - tail)
    yield from _lines(rows[end - tail : end])


def _cut(words: tuple[DiffWord, ...]) -> tuple[DiffWord, ...]:
    room, kept = LINE_CHARS, list[DiffWord]()
    for word in words:
        if room <= 0:
            break
        kept.append(word if len(word.text) <= room else DiffWord(word.text[:room], word.changed))
        room -= len(word.text)
    return words if sum(len(word.text) for word in words) <= LINE_CHARS else tuple(kept)
