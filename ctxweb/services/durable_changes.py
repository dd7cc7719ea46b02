"""Changes of a session's durable state as people and harnesses ask for them: the whole state, or some of its items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.conf import settings

from compaction.durable.canonical import Item, item_from, state_from
from compaction.durable.evidence import capture_retrieval_evidence
from compaction.durable.pending import transition_pending_item
from compaction.durable.values import DOMAINS, Domain, DurableContextState
from compaction.errors import DurableError
from ctxweb.models import Project
from ctxweb.services.durable_versions import Author, Confirm, Written, version_append
from ctxweb.services.source_confirm import digests_now

_MOVE = ("item_id", "status", "last_confirmed_at", "source_pointer", "reason")


def durable_replace(
    *, project: Project, session: str, expected: int, author: Author, state: Mapping[str, Any], confirm: Confirm = digests_now
) -> Written:
    """The whole state, as the next version. Raises VersionMoved, DurableError with the field."""
    given = state_from(state, most_items=settings.CTXWEB_DURABLE_ITEMS)
    return version_append(project=project, session=session, expected=expected, author=author, make=lambda _: given, confirm=confirm)


def durable_change(
    *, project: Project, session: str, expected: int, author: Author, changes: Mapping[str, Any], confirm: Confirm = digests_now
) -> Written:
    """Some items, as the next version. `changes` holds, each if it is there:

    the lists of a state, whose items take the place of those with their id, or are added; `remove`, lists of ids by list;
    `moves` of pending items (`item_id`, `status`, `last_confirmed_at`, `source_pointer`, `reason`); `hits` of a retrieval, which
    become evidence as `capture_retrieval_evidence` has it. Raises VersionMoved, DurableError with the field.
    """
    return version_append(
        project=project, session=session, expected=expected, author=author, make=lambda before: changed(before, changes), confirm=confirm
    )


def changed(state: DurableContextState, changes: Mapping[str, Any]) -> DurableContextState:
    """The state with the changes made, in the order: removals, moves, items, hits. Raises DurableError."""
    known = (*DOMAINS, "remove", "moves", "hits")
    for name in changes:
        if name not in known:
            raise DurableError(f"the change has an unknown field: use {', '.join(known)}", code="unknown_field", field=str(name)[:40])
    state = _without(state, changes.get("remove") or {})
    for place, move in enumerate(_listed(changes.get("moves"), "moves")):
        state = _moved(state, move, f"moves.{place}")
    for domain in DOMAINS:
        state = with_items(state, domain, _items(domain, changes.get(domain)))
    state = with_items(state, "retrieval_evidence", capture_retrieval_evidence(_listed(changes.get("hits"), "hits")))
    _check_size(state)
    return state


def with_items(state: DurableContextState, domain: Domain, items: Sequence[Item]) -> DurableContextState:
    """The state with these items in the places of those with their ids; new ones stand at the end."""
    given = {item.id: item for item in items}
    if not given:
        return state
    kept = [given.pop(item.id, item) for item in getattr(state, domain)]
    return replace(state, **{domain: (*kept, *given.values())})


def _without(state: DurableContextState, remove: object) -> DurableContextState:
    if not isinstance(remove, Mapping) or not set(remove) <= set(DOMAINS):
        raise DurableError(
            f"remove names lists of the state, with the ids that go: {', '.join(DOMAINS)}", code="wrong_kind", field="remove"
        )
    for domain, ids in remove.items():
        going = {str(one) for one in _listed(ids, f"remove.{domain}")}
        unknown = going - {item.id for item in getattr(state, domain)}
        if unknown:
            raise DurableError("an item that is to be removed is not in the state", code="item_unknown", field=f"remove.{domain}")
        state = replace(state, **{domain: tuple(item for item in getattr(state, domain) if item.id not in going)})
    return state


def _moved(state: DurableContextState, move: object, place: str) -> DurableContextState:
    if not isinstance(move, Mapping) or not set(move) <= set(_MOVE):
        raise DurableError(f"{place} is no move of a pending item: it has {', '.join(_MOVE)}", code="wrong_kind", field=place)
    try:
        return transition_pending_item(
            state,
            move.get("item_id"),  # type: ignore[arg-type]  # the transition checks each kind
            move.get("status"),  # type: ignore[arg-type]
            last_confirmed_at=move.get("last_confirmed_at"),  # type: ignore[arg-type]
            source_pointer=move.get("source_pointer"),
            reason=move.get("reason"),
        )
    except DurableError as error:
        error.place = place
        raise


def _items(domain: Domain, given: object) -> list[Item]:
    items = []
    for place, one in enumerate(_listed(given, domain)):
        try:
            items.append(item_from(domain, one, place=f"{domain}.{place}"))
        except DurableError as error:
            error.place = f"{domain}.{place}"
            raise
    if len({item.id for item in items}) < len(items):
        raise DurableError(f"two of {domain} have one id: give each once", code="duplicate_id", domain=domain)
    return items


def _listed(given: object, place: str) -> Sequence[Any]:
    if given is None:
        return ()
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise DurableError(f"{place} is no list: give one", code="wrong_kind", field=place)
    return given


def _check_size(state: DurableContextState) -> None:
    most = settings.CTXWEB_DURABLE_ITEMS
    for domain in DOMAINS:
        count = len(getattr(state, domain))
        if count > most:
            raise DurableError(f"{domain} has {count:,} items: at most {most:,} are kept", code="too_many_items", field=domain)
