"""JSON twins of a history: its compactions, the view at a call, the ledger, the fate of a block."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from django.http import HttpRequest
from ninja import Router

from ctxweb.api.paging import MAXIMUM, After, Limit, number_after, place_after, position_after
from ctxweb.queries.attachments import Attachment, view_attachments
from ctxweb.queries.call_figures import call_figures
from ctxweb.queries.fate import BlockFate, block_fate
from ctxweb.queries.ghosts import GhostWindow, ghost_window
from ctxweb.queries.ledger import CompactionRow, EditWindow, LedgerFilters, compaction_rows, edit_window
from ctxweb.queries.readable import Lane, block_id, readable_history
from ctxweb.queries.view import CallView, call_view

router = Router(tags=["histories"])


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryTwin:
    """A history and a window of its compactions. `policy` is None where it was recorded, not replayed; then `unit`, `settings` and
    `findings` are empty too. `dropped` are the policies of kept replays whose place a new one took."""

    id: str
    session: str
    origin: str
    policy: str | None
    unit: str
    settings: dict[str, Any]
    pinned: bool
    findings: tuple[dict[str, Any], ...]
    dropped: tuple[str, ...]
    calls: int
    compactions: tuple[CompactionRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewTwin(CallView):
    """The prompt of a call. `attachments` may have been sent with it and are not counted."""

    attachments: tuple[Attachment, ...]


@router.get("/histories/{history_id}", response=HistoryTwin, summary="One compaction history")
def history(request: HttpRequest, history_id: str, after: After = "", limit: Limit = MAXIMUM) -> HistoryTwin:
    return history_twin(lane=readable_history(public_id=history_id), after=number_after(after) or 0, limit=limit)


def history_twin(*, lane: Lane, after: int = 0, limit: int = MAXIMUM, dropped: tuple[str, ...] = ()) -> HistoryTwin:
    """The history of a lane with the first `limit` of its compactions behind the ordinal `after`."""
    rows = compaction_rows(lane=lane, after=after, limit=limit + 1)
    return HistoryTwin(
        id=lane.history.public_id,
        session=lane.session.public_id,
        origin=lane.history.origin,
        policy=lane.history.policy or None,
        unit=lane.history.unit,
        settings=lane.history.settings,
        pinned=lane.history.pinned,
        findings=tuple(lane.history.report.get("findings", ())),
        dropped=dropped,
        calls=lane.session.call_count,
        compactions=tuple(rows[:limit]),
        next=str(rows[limit - 1].ordinal) if len(rows) > limit else None,
    )


@router.get("/histories/{history_id}/calls/{n}/view", response=ViewTwin, summary="The prompt of call n, block by block")
def history_view(
    request: HttpRequest, history_id: str, n: int, against: int | None = None, after: After = "", limit: Limit = MAXIMUM
) -> ViewTwin:
    lane = readable_history(public_id=history_id)
    view = call_view(lane=lane, n=n, against=against, after=position_after(after), limit=limit)
    attachments = view_attachments(lane=lane, view=view, after=position_after(after))
    return ViewTwin(**{field.name: getattr(view, field.name) for field in fields(CallView)}, attachments=attachments)


@router.get("/histories/{history_id}/calls/{n}/ghosts", response=GhostWindow, summary="What another call held and call n does not")
def history_ghosts(request: HttpRequest, history_id: str, n: int, against: int, after: After = "", limit: Limit = MAXIMUM) -> GhostWindow:
    lane = readable_history(public_id=history_id)
    for number in (n, against):
        call_figures(lane=lane, n=number)
    return ghost_window(lane=lane, n=n, against=against, after=position_after(after), limit=limit)


@router.get("/histories/{history_id}/ledger", response=EditWindow, summary="Edits: which layer did what to which block")
def history_ledger(
    request: HttpRequest,
    history_id: str,
    layer: str = "",
    action: str = "",
    kind: str = "",
    tool: str = "",
    path: str = "",
    compaction: int | None = None,
    after: After = "",
    limit: Limit = MAXIMUM,
) -> EditWindow:
    filters = LedgerFilters(layer=layer, action=action, kind=kind, tool=tool, path=path, compaction=compaction)
    lane = readable_history(public_id=history_id)
    return edit_window(lane=lane, filters=filters, after=number_after(after) or 0, limit=limit)


@router.get("/histories/{history_id}/blocks/{block}/fate", response=BlockFate, summary="The life of one block")
def history_fate(request: HttpRequest, history_id: str, block: str, after: After = "") -> BlockFate:
    lane = readable_history(public_id=history_id)
    return block_fate(lane=lane, place=block_id(written=block), after=place_after(after))
