"""A checkpoint beside its range: each line with the line of the range that it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from compaction.line_diff import DiffWord
from compaction.range_diff import TracedLine, TraceKind
from ctxweb import addresses
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.page import counted, session_frame, show
from ctxweb.queries.body import markup_size
from ctxweb.queries.checkpoint_trace import KINDS, Trace, checkpoint_trace
from ctxweb.queries.checkpoints import checkpoint as named_checkpoint
from ctxweb.queries.readable import readable_lane
from ctxweb.views import asked
from ctxweb.views.checkpoint_words import caution_of
from ctxweb.views.choices import Switch

ROWS = 120  # of a window, and at most so many bytes of it
BYTES = 45_000
ROW_BYTES = 260  # of a row's markup
CARRIED = 20  # blocks that carry most, which the page lists
WORDS: dict[TraceKind, str] = {"quoted": "quoted", "reworded": "in other words", "own": "its own", "heading": "headings"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the checkpoint and the line of block `source` that it comes from; `percent` of its words stand there."""

    kind: str
    number: int
    words: tuple[DiffWord, ...]
    percent: int | None
    source: str
    source_words: tuple[DiffWord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedBlock:
    """A block of the range, and how many lines of the checkpoint come from it."""

    block: str
    lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RangePage:
    """A window of rows. `silent` blocks of the range live on in no line."""

    address: str
    public_id: str
    checkpoint: Checkpoint
    caution: str
    finding: str
    detail: str
    left_out: str
    switches: tuple[Switch, ...]
    rows: tuple[Row, ...]
    more: str | None
    carried: tuple[CarriedBlock, ...]
    silent: int


@require_safe
def checkpoint_range(request: HttpRequest, session_id: str, key: str) -> HttpResponse:
    lane = readable_lane(public_id=session_id)
    found = named_checkpoint(lane=lane, key=key)
    kind = asked.one_of(request.GET, "kind", KINDS, "")
    trace = checkpoint_trace(history=lane.history, checkpoint=found, kind=kind)
    page = _page(session_id, found, trace, kind, after=asked.number(request.GET, "after") or 0)
    twin = addresses.with_query(addresses.api_checkpoint(found.id, "range"), kind=kind)
    frame = session_frame(request, lane.session, tab="checkpoints", title=f"Checkpoint {key} and its range", json=twin)
    return show(
        request, template="checkpoints/range.html", frame=frame, page=page, fragments={"range-more": "checkpoints/_range_rows.html"}
    )


def _page(session: str, found: Checkpoint, trace: Trace, kind: str, *, after: int) -> RangePage:
    shown = _window(trace.lines, after)
    following = after + len(shown)
    counts = trace.found.counts
    most = sorted(trace.found.carried, key=lambda one: -one.lines)[:CARRIED]
    told = counts["quoted"] + counts["reworded"]
    return RangePage(
        address=addresses.checkpoint_range(session, found.key),
        public_id=session,
        checkpoint=found,
        caution=caution_of(found),
        finding=f"{told:,} of {counted(told + counts['own'], 'line')} of checkpoint {found.key} lead to its range.",
        detail=f"{counted(len(trace.found.carried), 'block')} of {trace.found.blocks:,} with a text live on in a line.",
        left_out=_left_out(trace),
        switches=tuple(_switches(session, found, trace, kind)),
        rows=shown,
        more=addresses.checkpoint_range(session, found.key, kind=kind, after=following) if following < len(trace.lines) else None,
        carried=tuple(CarriedBlock(block=str(one.block), lines=one.lines) for one in most),
        silent=trace.found.blocks - len(trace.found.carried),
    )


def _switches(session: str, found: Checkpoint, trace: Trace, kind: str) -> Iterator[Switch]:
    counts = {name: trace.found.counts[name] for name in KINDS}
    yield Switch(word="all", count=sum(counts.values()), address=addresses.checkpoint_range(session, found.key), current=not kind)
    for name, count in counts.items():
        address = addresses.checkpoint_range(session, found.key, kind=name)
        yield Switch(word=WORDS[name], count=count, address=address, current=name == kind)


def _window(lines: Sequence[TracedLine], start: int) -> tuple[Row, ...]:
    rows: list[Row] = []
    room = BYTES
    for line in lines[start : start + ROWS]:
        room -= ROW_BYTES + sum(markup_size(word.text) for word in (*line.words, *line.source_words))
        if room < 0 and rows:
            break
        rows.append(_row(line))
    return tuple(rows)


def _row(line: TracedLine) -> Row:
    return Row(
        kind=line.kind,
        number=line.number,
        words=line.words,
        percent=round(100 * line.share) if line.kind in ("quoted", "reworded") else None,
        source="" if line.source is None else str(line.source),
        source_words=line.source_words,
    )


def _left_out(trace: Trace) -> str:
    found = trace.found
    parts = [
        counted(trace.blocks_left_out, "block") + " of the range" if trace.blocks_left_out else "",
        f"{found.range_lines_left_out:,} lines of the range" if found.range_lines_left_out else "",
        f"{found.summary_lines_left_out:,} lines of the checkpoint" if found.summary_lines_left_out else "",
    ]
    return ", ".join(filter(None, parts))
