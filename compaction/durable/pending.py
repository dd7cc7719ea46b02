"""The moves of a pending item. Only a person or the harness makes one; compaction and summaries never do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from compaction.durable.fields import instant, plain_text, required_text, zoned_time
from compaction.durable.values import DurableContextState, PendingItem, PendingStatus, pending_status
from compaction.errors import DurableError, PendingItemUnknown

MOVES: Mapping[PendingStatus, frozenset[PendingStatus]] = {
    "open": frozenset(("blocked", "done")),
    "blocked": frozenset(("open", "done")),
    "done": frozenset(),
}


def transition_pending_item(
    state: DurableContextState,
    item_id: str,
    new_status: PendingStatus,
    *,
    last_confirmed_at: str,
    source_pointer: str | None = None,
    reason: str | None = None,
) -> DurableContextState:
    """A new state in which one item has moved. The confirmation is strictly later than the item's own.

    `source_pointer` is required for done and blocked, `reason` for blocked; else the reason is cleared. Raises
    DurableError `illegal_transition`, `confirmation_not_later`, `empty_field` and the refusals of the fields, PendingItemUnknown.
    """
    _check_kinds(item_id, new_status, last_confirmed_at, source_pointer, reason)
    status = pending_status(new_status, "new_status")
    item = _found(state, item_id)
    check_move(item.status, status)
    time = zoned_time(last_confirmed_at, "last_confirmed_at")
    check_later(item.last_confirmed_at, time)
    pointer = item.source_pointer
    if status != "open" or source_pointer is not None:
        pointer = required_text(source_pointer, "source_pointer")
    if status == "blocked":
        required_text(reason, "reason")
    kept = reason if status == "blocked" else None
    moved = replace(item, status=status, last_confirmed_at=time, source_pointer=pointer, reason=kept)
    return replace(state, pending_items=tuple(moved if one is item else one for one in state.pending_items))


def check_move(before: PendingStatus, after: PendingStatus) -> None:
    """Raises DurableError `illegal_transition`: done is final, and staying is no move."""
    if after not in MOVES[before]:
        raise DurableError(
            f"a pending item cannot go from {before} to {after}: it may go to {', '.join(sorted(MOVES[before])) or 'nothing, it is final'}",
            code="illegal_transition",
            **{"from": before, "to": after},
        )


def check_later(before: str, after: str) -> None:
    """Raises DurableError `confirmation_not_later` unless the second instant is the later one."""
    if instant(after) <= instant(before):
        raise DurableError(
            "the confirmation is not later than the last one: confirm again, with the time of now", code="confirmation_not_later"
        )


def _check_kinds(item_id: object, new_status: object, time: object, pointer: object, reason: object) -> None:
    for field, given in (("item_id", item_id), ("new_status", new_status), ("last_confirmed_at", time)):
        plain_text(given, field)
    for field, given in (("source_pointer", pointer), ("reason", reason)):
        if given is not None:
            plain_text(given, field)


def _found(state: DurableContextState, item_id: str) -> PendingItem:
    wanted = " ".join(item_id.split())
    for item in state.pending_items:
        if item.item_id == wanted:
            return item
    raise PendingItemUnknown("no pending item of this state has that id", code="pending_item_unknown", id=wanted)
