"""View at call n: what the model saw, and what became of what another call saw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ctxweb import addresses
from ctxweb.charts.columns import Columns, columns
from ctxweb.page import session_frame, show
from ctxweb.queries.attachments import Attachment, view_attachments
from ctxweb.queries.call_figures import CallFigures, waiting_sums
from ctxweb.queries.ghosts import GhostWindow, ghost_window, largest_ghosts
from ctxweb.queries.hidden import Hidden
from ctxweb.queries.readable import Lane
from ctxweb.queries.readout import view_sums
from ctxweb.queries.strip import Strip, strip
from ctxweb.queries.view import CallView, ViewBlock, call_view, view_findings
from ctxweb.views import asked
from ctxweb.views.lanes import HistoryLink, history_links, lane_asked
from ctxweb.views.view_words import ViewNote, detail_of, finding_of, notes_of
from ctxweb.views.windows import after_position, rows_asked
from ctxweb.vocabulary import KIND_WORDS, KINDS

GHOST_TARGET = "ghosts-more"


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryRow:
    """A category of the prompt; `before` is the other call's figure, None without one."""

    name: str
    word: str
    tokens: int
    share: float | None
    before: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRow:
    """A row of the prompt: a block of the view, or an attachment that is not counted."""

    block: ViewBlock | None
    attachment: Attachment | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewPage:
    """One window of a view. `ghosts` are only on the first window; `more` leads to the next one."""

    call: CallFigures
    against: CallFigures | None
    previous: str | None
    following: str | None
    earlier: str | None
    later: str | None
    plain: str
    h: str
    policy: str
    histories: tuple[HistoryLink, ...]
    finding: str
    detail: str
    notes: tuple[ViewNote, ...]
    strip: Strip
    columns: Columns
    categories: tuple[CategoryRow, ...]
    view: CallView
    hidden: Hidden
    total: int
    rows: tuple[ViewRow, ...]
    shown: int
    more: str | None
    ghosts: GhostWindow | None
    all_ghosts: str
    smaller: int
    smaller_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsPage:
    """A further window of rows, or of ghosts."""

    call: CallFigures
    against: CallFigures | None
    rows: tuple[ViewRow, ...]
    more: str | None
    ghosts: GhostWindow | None


@require_safe
def view(request: HttpRequest, session_id: str, n: int) -> HttpResponse:
    lane = lane_asked(request, session_id)
    against = asked.number(request.GET, "against")
    if request.GET.get("ghosts") and against is not None:
        return _ghosts(request, lane, n, against)
    shown = call_view(lane=lane, n=n, against=_other(lane, n, against), after=after_position(request.GET), limit=rows_asked(request))
    after = after_position(request.GET)
    attachments = view_attachments(lane=lane, view=shown, after=after)
    page = _page(lane, shown, tuple(_rows(shown.blocks, attachments)))
    other = page.against.n if page.against else None
    twin = addresses.with_query(addresses.api_history(lane.history.public_id, f"calls/{n}/view"), against=other)
    frame = session_frame(request, lane.session, tab="view", title=f"Call {n:,}", json=twin, call=n, history=lane.history)
    return show(request, template="view/page.html", frame=frame, page=page, fragments={"view-more": "view/_rows.html"})


def _other(lane: Lane, n: int, against: int | None) -> int | None:
    """The call to compare with: the one that was asked for, else the previous one on the path of call `n`."""
    if against is not None:
        if against == n:
            raise Http404
        return against
    if n > lane.session.call_count:
        return lane.session.call_count or None
    return lane.revision.calls.filter(n=n).values_list("previous", flat=True).first()


def _ghosts(request: HttpRequest, lane: Lane, n: int, against: int) -> HttpResponse:
    shown = call_view(lane=lane, n=n, against=against, after=None, limit=1)
    window = ghost_window(lane=lane, n=n, against=against, after=after_position(request.GET), limit=rows_asked(request))
    plain = f"/s/{lane.session.public_id}/view/{n}"
    more = addresses.with_query(plain, against=against, ghosts="all", after=window.next, h=lane.h)
    page = RowsPage(call=shown.call, against=shown.against, rows=(), more=more if window.next else None, ghosts=window)
    frame = session_frame(
        request,
        lane.session,
        tab="view",
        title=f"What left before call {n:,}",
        json=_ghosts_twin(lane, n, against),
        call=n,
        history=lane.history,
    )
    return show(request, template="view/ghosts.html", frame=frame, page=page, fragments={GHOST_TARGET: "view/_ghosts.html"})


def _ghosts_twin(lane: Lane, n: int, against: int) -> str:
    return addresses.with_query(addresses.api_history(lane.history.public_id, f"calls/{n}/ghosts"), against=against)


def _rows(blocks: Sequence[ViewBlock], attachments: Sequence[Attachment]) -> Iterator[ViewRow]:
    """Blocks in the order of the prompt, each attachment behind the last block of an earlier message."""
    waiting = list(attachments)
    for block in blocks:
        seq = int(block.block.partition(".")[0])
        while waiting and waiting[0].seq < seq:
            yield ViewRow(block=None, attachment=waiting.pop(0))
        yield ViewRow(block=block, attachment=None)
    for attachment in waiting:
        yield ViewRow(block=None, attachment=attachment)


def _page(lane: Lane, shown: CallView, rows: tuple[ViewRow, ...]) -> ViewPage:
    call, against, public_id = shown.call, shown.against, lane.session.public_id
    moves = strip(lane=lane, n=call.n)
    other = against.n if against else None
    plain, h = addresses.view(public_id, call.n), lane.h
    ghosts = largest_ghosts(lane=lane, n=call.n, against=other) if other and shown.change and shown.change.left else None
    here = _parts(lane, shown.hidden, call)
    there = _parts(lane, shown.hidden, against) if against else ()
    return ViewPage(
        call=call,
        against=against,
        previous=addresses.view(public_id, call.n - 1, h=h) if call.n > 1 else None,
        following=addresses.view(public_id, call.n + 1, h=h) if not call.is_next else None,
        earlier=addresses.view(public_id, moves.earlier, h=h) if moves.earlier else None,
        later=addresses.view(public_id, moves.later, h=h) if moves.later else None,
        plain=plain,
        h=h,
        policy=lane.history.policy,
        histories=history_links(lane, lambda other_h: addresses.view(public_id, call.n, against=other, h=other_h)),
        finding=finding_of(shown),
        detail=detail_of(shown, policy=lane.history.policy),
        notes=notes_of(shown, view_findings(lane=lane, n=call.n), public_id=public_id),
        strip=moves,
        columns=columns([(one.n, parts) for one, parts in ((against, there), (call, here)) if one]),
        categories=_categories(here, dict(there) if against else None),
        view=shown,
        hidden=shown.hidden,
        total=sum(tokens for _, tokens in here),
        rows=rows,
        shown=len(shown.blocks),
        more=addresses.with_query(plain, against=other, after=shown.next, h=h) if shown.next else None,
        ghosts=ghosts,
        all_ghosts=addresses.with_query(plain, against=other, ghosts="all", h=h),
        smaller=ghosts.total - len(ghosts.ghosts) if ghosts else 0,
        smaller_tokens=ghosts.total_tokens - ghosts.shown_tokens if ghosts else 0,
    )


def _parts(lane: Lane, hidden: Hidden, call: CallFigures) -> tuple[tuple[str, int], ...]:
    """The categories of a call from the base upwards; with a reported size they add up to it."""
    sums = view_sums(lane.history, call.n)
    for name, tokens in waiting_sums(lane).items() if call.is_next else ():
        sums[name] = sums.get(name, 0) + tokens
    base = hidden.before_log or 0
    parts = [(kind.name, sums.get(kind.name, 0) + (base if kind.name == "overhead" else 0)) for kind in KINDS]
    rest = call.unexplained - base if call.unexplained is not None else 0
    return tuple((name, tokens) for name, tokens in (*parts, ("unexplained", rest)) if tokens)


def _categories(here: Sequence[tuple[str, int]], there: dict[str, int] | None) -> tuple[CategoryRow, ...]:
    sums = dict(here)
    total = sum(sums.values())
    names = [kind.name for kind in KINDS] + ["unexplained"]
    return tuple(
        CategoryRow(
            name=name,
            word=KIND_WORDS[name].word,
            tokens=sums.get(name, 0),
            share=sums.get(name, 0) / total if total else None,
            before=there.get(name, 0) if there is not None else None,
        )
        for name in reversed(names)
        if sums.get(name) or (there or {}).get(name)
    )
