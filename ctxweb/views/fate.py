"""Fate of a block: birth, life, each edit with what it changed, and what stands for it now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from compaction.messages import BlockId
from ctxweb import addresses
from ctxweb.layer_runs import unit_word
from ctxweb.page import session_frame, show
from ctxweb.queries.body import Preview
from ctxweb.queries.fate import BlockFate, FateEdit, Relative, block_fate, edit_diff, file_lives, text_preview
from ctxweb.queries.lives import LifeSpan
from ctxweb.queries.readable import Lane, block_id
from ctxweb.queries.texts import text_digest
from ctxweb.text_diff import Diff
from ctxweb.views import asked
from ctxweb.views.fate_words import detail_of, finding_of
from ctxweb.views.lanes import HistoryLink, history_links, lane_asked
from ctxweb.views.windows import BEGINNING, after_place, page_rows

WHOLE_DIFF_CHARS = 60_000  # of a difference that was asked for
FILE_TARGET = "file-more"


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeLane:
    """A row of the picture: what holds the content, in which calls."""

    icon: str
    label: str
    count: str
    color: str
    spans: tuple[LifeSpan, ...]
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EditStory:
    """An edit, the call that first saw its result, and the difference where it left a text."""

    edit: FateEdit
    diff: Diff | None
    whole: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FatePage:
    """`cuts` are the calls before which an edit of this block came; `share` is that of the first prompt, in percent. Of a replay
    `unit` is how its own figures are called; a block that it put in itself `was_logged` nowhere."""

    address: str
    public_id: str
    unit: str
    policy: str
    was_logged: bool
    histories: tuple[HistoryLink, ...]
    fate: BlockFate
    finding: str
    detail: str
    title: str
    lanes: tuple[LifeLane, ...]
    cuts: tuple[int, ...]
    ticks: tuple[tuple[str, int], ...]
    stories: tuple[EditStory, ...]
    preview: Preview | None
    blocks: tuple[Relative, ...]
    more: str | None
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPage:
    """The text of a block, folded, under its row."""

    block: str
    body: str | None
    preview: Preview | None
    session: str


@require_safe
def fate(request: HttpRequest, session_id: str, block: str) -> HttpResponse:
    lane, place = lane_asked(request, session_id), block_id(written=block)
    target = request.headers.get("HX-Target", "")
    if target and target != "main" and target != FILE_TARGET:
        return _text(request, lane, place, target)
    after = after_place(request.GET)
    shown = block_fate(lane=lane, place=place, after=after, limit=page_rows() if after != BEGINNING else None)
    page = _page(lane, shown, place, whole_diff=asked.number(request.GET, "diff"))
    frame = session_frame(
        request,
        lane.session,
        tab="fate",
        title=f"Block {place}",
        json=addresses.api_history(lane.history.public_id, f"blocks/{place}/fate"),
        block=str(place),
        history=lane.history,
    )
    return show(request, template="fate/page.html", frame=frame, page=page, fragments={FILE_TARGET: "fate/_file_rows.html"})


def _text(request: HttpRequest, lane: Lane, place: BlockId, target: str) -> HttpResponse:
    digest = text_digest(lane=lane, place=place, call=asked.number(request.GET, "call"))
    page = TextPage(
        block=str(place),
        body=digest,
        preview=text_preview(digest=digest) if digest else None,
        session=lane.session.public_id,
    )
    frame = session_frame(request, lane.session, tab="fate", title=f"Block {place}", json="", block=str(place), history=lane.history)
    return show(request, template="fate/_text_row.html", frame=frame, page=page, fragments={target: "fate/_text_row.html"})


def _page(lane: Lane, shown: BlockFate, place: BlockId, *, whole_diff: int | None) -> FatePage:
    public_id, calls = lane.session.public_id, lane.session.call_count
    address = addresses.fate(public_id, place.seq, place.i)
    logged = place.seq <= lane.session.message_count  # what a replay put in is in no other history
    file = shown.same_file
    return FatePage(
        address=address,
        public_id=public_id,
        unit=unit_word(lane.history.unit) if lane.is_replayed else "",
        policy=lane.history.policy,
        was_logged=logged,
        histories=_histories(lane, place, logged),
        fate=shown,
        finding=finding_of(shown),
        detail=detail_of(shown),
        title=shown.block.path or shown.block.tool_name or f"block {place}",
        lanes=tuple(_lanes(lane, shown, place)),
        cuts=tuple(sorted({edit.before_call for edit in shown.edits if edit.before_call and edit.before_call <= calls})),
        ticks=_ticks(calls),
        stories=tuple(_stories(shown, address, whole_diff, lane.h)),
        preview=text_preview(digest=shown.block.body),
        blocks=file.blocks,
        more=addresses.with_query(address, after=file.next, h=lane.h) if file.next else None,
        calls=calls,
    )


def _histories(lane: Lane, place: BlockId, logged: bool) -> tuple[HistoryLink, ...]:
    """This block in other histories; what a replay put in is in its own only, and their ledgers take its place."""
    session = lane.session.public_id
    return history_links(lane, lambda h: addresses.fate(session, *place, h=h) if logged else addresses.ledger(session, h=h))


FILE_LABELS = {"tool_result": "other results of the file", "tool_use": "calls on the file"}


def _lanes(lane: Lane, shown: BlockFate, place: BlockId) -> Iterator[LifeLane]:
    """This block, then other results and uses of its file, then the checkpoints that stand for it."""
    block = shown.block
    yield LifeLane(icon=block.kind, label="this block", count=f"#{block.block}", color=block.kind, spans=block.life, calls=shown.sent)
    for others in file_lives(lane=lane, path=block.path, without=place):
        yield _lane(lane, others.kind, FILE_LABELS[others.kind], others.blocks, others.spans)
    if shown.carried_by:
        spans = tuple(span for carrier in shown.carried_by for span in carrier.life)
        yield _lane(lane, "compaction", "checkpoints in its place", len(shown.carried_by), spans)


def _lane(lane: Lane, kind: str, label: str, blocks: int, spans: tuple[LifeSpan, ...]) -> LifeLane:
    ends = lane.session.call_count + 1
    seen = {n for span in spans for n in range(span.from_call, span.to_call or ends)}
    return LifeLane(icon=kind, label=label, count=f"×{blocks:,}", color=kind, spans=spans, calls=len(seen))


def _ticks(calls: int) -> tuple[tuple[str, int], ...]:
    """About eight labels of the axis: place in percent and call."""
    if calls < 2:
        return ()
    step = next(step for step in (1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 10**9) if calls / step <= 9)
    return tuple((f"{100 * (n - 0.5) / calls:.2f}%", n) for n in (1, *range(step, calls + 1, step)) if n == 1 or (n > step // 2 and n > 1))


def _stories(shown: BlockFate, address: str, whole_diff: int | None, h: str) -> Iterator[EditStory]:
    """The edits in order, each with the difference to the text before it."""
    before = shown.block.body
    for edit in shown.edits:
        diff, whole = None, None
        if edit.body_after and not edit.adds:
            wanted = whole_diff == edit.ordinal
            diff = edit_diff(before=before, after=edit.body_after, **({"budget": WHOLE_DIFF_CHARS} if wanted else {}))
            whole = addresses.with_query(address, diff=edit.ordinal, h=h) + f"#e{edit.ordinal}" if diff.is_cut and not wanted else None
            diff = diff if diff.removed or diff.added else None  # it was logged in this state already
            before = edit.body_after
        yield EditStory(edit=edit, diff=diff, whole=whole)
