"""JSON twins of what stands beside a checkpoint: its range, or another checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.http import HttpRequest
from ninja import Router

from compaction.checkpoint_diff import CheckpointDiff
from compaction.line_diff import DiffWord
from compaction.range_diff import TracedLine
from ctxweb.api.checkpoints import CheckpointTwin, twin_of
from ctxweb.api.paging import MAXIMUM, After, Limit, number_after
from ctxweb.queries.checkpoint_difference import LivesOn, difference, lives_on
from ctxweb.queries.checkpoint_trace import KINDS, checkpoint_trace
from ctxweb.queries.checkpoints import checkpoint_named
from ctxweb.services.checkpoint_analysis import chain_followed, checkpoint_figures

router = Router(tags=["checkpoints"])


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedLineTwin:
    """A line of the checkpoint (`number` from 1): quoted, reworded, its own, or a heading; `share` of its words stand in `source_text`, a
    line of the block `source`."""

    kind: str
    number: int
    text: str
    share: float
    source: str
    source_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedTwin:
    block: str
    lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTwin:
    """A checkpoint beside its range: a window of its lines, blank ones left out, and the blocks that live on in a line."""

    checkpoint: str
    counts: dict[str, int]
    lines: tuple[TracedLineTwin, ...]
    carried: tuple[CarriedTwin, ...]
    blocks: int
    blocks_left_out: int
    range_lines_left_out: int
    summary_lines_left_out: int
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionTwin:
    kind: str
    old_heading: str | None
    new_heading: str | None
    moved: bool
    old_tokens: int | None
    new_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HunkTwin:
    """A run of changes in section `section` (from 0): `id` is its anchor on the page."""

    id: str
    section: int
    removed: int
    added: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRowTwin:
    """A line on one side or both with its numbers (from 1)."""

    section: int
    kind: str
    old: int | None
    new: int | None
    old_text: str
    new_text: str
    moved_to: int | None
    moved_from: int | None
    hunk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointDifferenceTwin:
    """Two checkpoints line by line, a window of the rows; and which items of their ranges live on."""

    old: CheckpointTwin
    new: CheckpointTwin
    same: int
    changed: int
    removed: int
    added: int
    moved: int
    sections: tuple[SectionTwin, ...]
    hunks: tuple[HunkTwin, ...]
    rows: tuple[DiffRowTwin, ...]
    old_lines_left_out: int
    new_lines_left_out: int
    chars_left_out: int
    unmarked: int
    lives: LivesOn | None
    next: str | None


@router.get("/checkpoints/{checkpoint_id}/range", response=TraceTwin, summary="Where each line of a checkpoint comes from")
def checkpoint_range(request: HttpRequest, checkpoint_id: str, kind: str = "", after: After = "", limit: Limit = MAXIMUM) -> TraceTwin:
    lane, _, found = checkpoint_named(public_id=checkpoint_id)
    trace = checkpoint_trace(history=lane.history, checkpoint=found, kind=kind if kind in KINDS else "")
    start = number_after(after) or 0
    shown = trace.lines[start : start + limit]
    return TraceTwin(
        checkpoint=found.id,
        counts={name: trace.found.counts[name] for name in KINDS},
        lines=tuple(map(_traced, shown)),
        carried=tuple(CarriedTwin(block=str(one.block), lines=one.lines) for one in trace.found.carried),
        blocks=trace.found.blocks,
        blocks_left_out=trace.blocks_left_out,
        range_lines_left_out=trace.found.range_lines_left_out,
        summary_lines_left_out=trace.found.summary_lines_left_out,
        next=str(start + limit) if len(trace.lines) > start + limit else None,
    )


@router.get(
    "/checkpoints/{old_id}/diff/{new_id}", response=CheckpointDifferenceTwin, summary="Two checkpoints line by line, and what was retained"
)
def checkpoint_diff(request: HttpRequest, old_id: str, new_id: str, after: After = "", limit: Limit = MAXIMUM) -> CheckpointDifferenceTwin:
    lane, _, old = checkpoint_named(public_id=old_id)
    other, _, new = checkpoint_named(public_id=new_id)
    found = difference(old=old, new=new, encoding=lane.session.encoding)
    rows, start = tuple(_rows(found.diff)), number_after(after) or 0
    figures = checkpoint_figures(history=lane.history, checkpoints=[old])
    theirs = checkpoint_figures(history=other.history, checkpoints=[new])
    followed = chain_followed(history=lane.history, chain=[old, new]) if old.session == new.session else None
    lives = lives_on(followed) if followed is not None else None
    diff, left_out = found.diff, found.diff.left_out
    return CheckpointDifferenceTwin(
        old=twin_of(old, figures.get(old.key)),
        new=twin_of(new, theirs.get(new.key)),
        same=diff.same,
        changed=diff.changed,
        removed=diff.removed,
        added=diff.added,
        moved=diff.moved,
        sections=tuple(
            SectionTwin(
                kind=section.kind,
                old_heading=section.old_heading,
                new_heading=section.new_heading,
                moved=section.moved,
                old_tokens=size.old,
                new_tokens=size.new,
            )
            for section, size in zip(diff.sections, found.sizes, strict=True)
        ),
        hunks=tuple(HunkTwin(id=hunk.id, section=hunk.section, removed=hunk.removed, added=hunk.added) for hunk in diff.hunks),
        rows=rows[start : start + limit],
        old_lines_left_out=left_out.old_lines,
        new_lines_left_out=left_out.new_lines,
        chars_left_out=left_out.chars,
        unmarked=left_out.unmarked,
        lives=None if lives is None else replace(lives, rows=lives.rows[:MAXIMUM]),
        next=str(start + limit) if len(rows) > start + limit else None,
    )


def _rows(diff: CheckpointDiff) -> Iterator[DiffRowTwin]:
    for place, section in enumerate(diff.sections):
        for row in section.rows:
            yield DiffRowTwin(
                section=place,
                kind=row.kind,
                old=row.old,
                new=row.new,
                old_text=_text(row.old_words),
                new_text=_text(row.new_words),
                moved_to=row.moved_to,
                moved_from=row.moved_from,
                hunk=row.hunk,
            )


def _traced(line: TracedLine) -> TracedLineTwin:
    return TracedLineTwin(
        kind=line.kind,
        number=line.number,
        text=_text(line.words),
        share=line.share,
        source="" if line.source is None else str(line.source),
        source_text=_text(line.source_words),
    )


def _text(words: tuple[DiffWord, ...]) -> str:
    return "".join(word.text for word in words)
