"""A checkpoint beside the range that it replaced: where each of its lines comes from, and which blocks live on in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404

from compaction.range_diff import RangeDiff, TracedLine, TraceKind, trace_checkpoint
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.ranges import checkpoint_range, checkpoint_text
from ctxweb.models import History

KINDS: tuple[TraceKind, ...] = ("quoted", "reworded", "own", "heading")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """`lines` of one kind or of all, blank ones left out; `blocks_left_out` of the range were too much to be read."""

    found: RangeDiff
    lines: tuple[TracedLine, ...]
    blocks_left_out: int


def checkpoint_trace(*, history: History, checkpoint: Checkpoint, kind: str) -> Trace:
    """Raises Http404 where text or range cannot be read. `history`: the recorded one."""
    if not checkpoint.has_range or not checkpoint.is_readable:
        raise Http404
    text = checkpoint_range(history=history, checkpoint=checkpoint)
    found = trace_checkpoint(text.pieces, checkpoint_text(checkpoint))
    return Trace(found=found, lines=tuple(_lines(found, kind)), blocks_left_out=text.left_out)


def _lines(found: RangeDiff, kind: str) -> Sequence[TracedLine]:
    return [line for section in found.sections for line in section.lines if line.kind != "blank" and kind in ("", line.kind)]
