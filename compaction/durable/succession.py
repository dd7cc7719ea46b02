"""The difference of two states, and whether the second may follow the first as the next version.

A changed status is a legal move, a done item neither changes nor vanishes, and whatever else vanishes needs a reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

from compaction.durable.canonical import Item
from compaction.durable.pending import check_later, check_move
from compaction.durable.values import DOMAINS, Domain, DurableContextState, PendingItem
from compaction.errors import DurableError, SuccessionError

Change = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field of an item before and after."""

    field: str
    before: object
    after: object


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChange:
    """An item that was added, removed or changed; `fields` only where it changed."""

    domain: Domain
    id: str
    change: Change
    before: Item | None
    after: Item | None
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Everything in which two states differ: their items, and the lists in which common items stand in another order."""

    changes: tuple[ItemChange, ...]
    reordered: tuple[Domain, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.changes or self.reordered)


def difference(before: DurableContextState, after: DurableContextState) -> Difference:
    """What became of the first state in the second: removals, changes and additions, list by list."""
    changes: list[ItemChange] = []
    reordered: list[Domain] = []
    for domain in DOMAINS:
        old, new = _by_id(before, domain), _by_id(after, domain)
        changes += [ItemChange(domain=domain, id=id, change="removed", before=old[id], after=None) for id in old if id not in new]
        changes += [_changed(domain, old[id], new[id]) for id in old if id in new and old[id] != new[id]]
        changes += [ItemChange(domain=domain, id=id, change="added", before=None, after=new[id]) for id in new if id not in old]
        if [id for id in old if id in new] != [id for id in new if id in old]:
            reordered.append(domain)
    return Difference(changes=tuple(changes), reordered=tuple(reordered))


def check_successor(before: DurableContextState, after: DurableContextState, *, reason: str | None = None) -> Difference:
    """The difference, if the second state may follow the first. `reason`: why items were removed; a blank one is none.

    Raises SuccessionError `done_item_changed`, `done_item_removed`, `removal_without_reason`, or with the code of the move
    that is not legal: `illegal_transition`, `confirmation_not_later`, `empty_field`, `reason_not_cleared`. `figures` are
    the list and the id.
    """
    found = difference(before, after)
    for change in found.changes:
        if change.change == "removed":
            _check_removal(change, reason)
        elif isinstance(change.before, PendingItem) and isinstance(change.after, PendingItem):
            _check_pending(change, change.before, change.after)
    return found


def _by_id(state: DurableContextState, domain: Domain) -> Mapping[str, Item]:
    return {item.id: item for item in getattr(state, domain)}


def _changed(domain: Domain, before: Item, after: Item) -> ItemChange:
    names = [field.name for field in fields(before) if getattr(before, field.name) != getattr(after, field.name)]
    changed = tuple(FieldChange(field=name, before=getattr(before, name), after=getattr(after, name)) for name in names)
    return ItemChange(domain=domain, id=before.id, change="changed", before=before, after=after, fields=changed)


def _check_removal(change: ItemChange, reason: str | None) -> None:
    if isinstance(change.before, PendingItem) and change.before.status == "done":
        raise _refused(change, "done_item_removed", "a done item cannot be removed: it is the record that it was done")
    if not (reason or "").strip():
        raise _refused(change, "removal_without_reason", "an item was removed without a reason: give one")


def _check_pending(change: ItemChange, before: PendingItem, after: PendingItem) -> None:
    if before.status == "done":
        raise _refused(change, "done_item_changed", "a done item cannot change: done is final")
    if before.status == after.status:
        return
    try:
        check_move(before.status, after.status)
        check_later(before.last_confirmed_at, after.last_confirmed_at)
    except DurableError as error:
        raise _refused(change, error.code, str(error), **error.figures) from None
    if after.status != "blocked" and after.reason is not None:
        raise _refused(change, "reason_not_cleared", "an item that is no longer blocked keeps no reason: leave it out")


def _refused(change: ItemChange, code: str, message: str, **figures: str) -> SuccessionError:
    return SuccessionError(message, code=code, domain=change.domain, id=change.id, **figures)
