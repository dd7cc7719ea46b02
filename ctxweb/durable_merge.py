"""What a state that was given from outside adds to the one that is there. Nothing is overwritten: an item that contradicts the
state stands beside it, as a conflict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from compaction.durable.canonical import Item
from compaction.durable.fields import instant
from compaction.durable.succession import check_successor
from compaction.durable.values import DOMAINS, Domain, DurableContextState, DurableFact, PendingItem
from compaction.errors import DurableError

Known = Callable[[Item], bool]
CONFIRMATION = ("last_confirmed_at", "source_pointer", "status", "reason")  # what a later confirmation may change


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The state with what was added and confirmed again, and the items that contradict it, with their lists."""

    state: DurableContextState
    conflicts: tuple[tuple[Domain, Item], ...]


def merged(state: DurableContextState, given: DurableContextState, *, known: Known) -> Merged:
    """Items with new ids are added. One that says the same and was confirmed later takes the place of the old one, if the move
    is legal. One that an earlier version held (`known`) is old news: it was changed or removed since. Whatever else differs is
    a conflict."""
    conflicts: list[tuple[Domain, Item]] = []
    for domain in DOMAINS:
        there: dict[str, Item] = {item.id: item for item in getattr(state, domain)}
        for item in getattr(given, domain):
            before = there.get(item.id)
            if before is not None and _confirms(before, item):
                there[item.id] = item
            elif before == item or known(item):
                continue
            elif before is None:
                there[item.id] = item
            elif not _is_older(before, item):
                conflicts.append((domain, item))
        lists: dict[str, Any] = {domain: tuple(there.values())}
        state = replace(state, **lists)
    return Merged(state=state, conflicts=tuple(conflicts))


def _confirms(before: Item, item: Item) -> bool:
    """Whether `item` is a later confirmation of what `before` says."""
    if not _says_the_same(before, item) or before == item:
        return False
    if not isinstance(before, DurableFact | PendingItem) or not isinstance(item, DurableFact | PendingItem):
        return False
    return instant(item.last_confirmed_at) > instant(before.last_confirmed_at) and _may_follow(before, item)


def _is_older(before: Item, item: Item) -> bool:
    """Whether `item` says the same as the state and was not confirmed later: then the state has the news."""
    if not isinstance(before, DurableFact | PendingItem) or not isinstance(item, DurableFact | PendingItem):
        return False
    return _says_the_same(before, item) and instant(item.last_confirmed_at) <= instant(before.last_confirmed_at)


def _says_the_same(before: Item, item: Item) -> bool:
    return all(getattr(before, field.name) == getattr(item, field.name) for field in fields(before) if field.name not in CONFIRMATION)


def _may_follow(before: Item, item: Item) -> bool:
    if not isinstance(before, PendingItem) or not isinstance(item, PendingItem):
        return True
    try:
        check_successor(DurableContextState(pending_items=(before,)), DurableContextState(pending_items=(item,)))
    except DurableError:
        return False
    return True
