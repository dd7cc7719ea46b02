"""The canonical JSON of a state, which a version stores and hashes, and the way back.

Keys are sorted, there are no spaces, and everything beyond ASCII is an escape: so the text is the same on every machine,
survives every database, and holds lone surrogates and NUL as they were.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields

from compaction.durable.values import (
    DOMAINS,
    Domain,
    DurableContextState,
    DurableFact,
    PendingItem,
    RetrievalDecision,
    RetrievalEvidence,
    RetrievalTrace,
)
from compaction.errors import DurableError
from compaction.typed_json import Json, to_json

MOST_ITEMS = 10_000  # of one list

Item = DurableFact | PendingItem | RetrievalEvidence | RetrievalTrace
KINDS: Mapping[Domain, type[Item]] = {
    "facts": DurableFact,
    "pending_items": PendingItem,
    "retrieval_evidence": RetrievalEvidence,
    "retrieval_traces": RetrievalTrace,
}


def state_to_json(state: DurableContextState) -> str:
    """The canonical JSON: ASCII, one line. Equal states give equal texts."""
    return json.dumps(to_json(state), sort_keys=True, separators=(",", ":"), allow_nan=False)


def state_digest(state: DurableContextState) -> str:
    """SHA-256 of the canonical JSON, in hex."""
    return hashlib.sha256(state_to_json(state).encode("ascii")).hexdigest()


def state_from_json(text: str, *, most_items: int = MOST_ITEMS) -> DurableContextState:
    """A state from its JSON. Raises DurableError `not_json` and whatever `state_from` refuses."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise DurableError("the durable state is no JSON: give one object", code="not_json") from None
    return state_from(given, most_items=most_items)


def state_from(given: object, *, most_items: int = MOST_ITEMS) -> DurableContextState:
    """A state from a mapping; absent lists are empty. Raises DurableError `wrong_kind`, `unknown_field`, `too_many_items` and
    the refusals of the values; `place` says where: `facts.3`."""
    lists = _mapping(given, DOMAINS, "the durable state")
    return DurableContextState(**{domain: tuple(_items(domain, _or_empty(lists[domain]), most_items)) for domain in lists})  # type: ignore[arg-type]


def item_from(domain: Domain, given: object, *, place: str = "") -> Item:
    """One item of a list from a mapping. Absent required fields are `empty_field`."""
    kind = KINDS[domain]
    names = [field.name for field in fields(kind)]
    values = _mapping(given, names, place or domain)
    if kind is RetrievalTrace:
        values = {**values, "decisions": tuple(_decisions(_or_empty(values.get("decisions")), place or domain))}
    given_fields = {name: values[name] for name in names if name in values}
    make: Callable[..., Item] = kind
    return make(**{**_required_as_null(kind), **given_fields})


def _items(domain: Domain, given: object, most_items: int) -> list[Item]:
    listed = _sequence(given, domain)
    if len(listed) > most_items:
        raise DurableError(f"{domain} has {len(listed):,} items: at most {most_items:,} are kept", code="too_many_items", field=domain)
    items = []
    for index, one in enumerate(listed):
        place = f"{domain}.{index}"
        try:
            items.append(item_from(domain, one, place=place))
        except DurableError as error:
            error.place = place
            raise
    return items


def _decisions(given: object, place: str) -> list[RetrievalDecision]:
    names = [field.name for field in fields(RetrievalDecision)]
    decisions = []
    for index, one in enumerate(_sequence(given, f"{place}.decisions")):
        values = _mapping(one, names, f"{place}.decisions.{index}")
        decisions.append(RetrievalDecision(**{"memory_id": None, "decision": None, **values}))  # type: ignore[arg-type]
    return decisions


def _required_as_null(kind: type[Item]) -> dict[str, object]:
    return {field.name: None for field in fields(kind) if field.name not in _OPTIONAL}


_OPTIONAL = ("reason", "status", "conflict_key", "decisions")


def _or_empty(given: object) -> object:
    return () if given is None else given


def _mapping(given: object, known: Sequence[str], place: str) -> dict[str, object]:
    if not isinstance(given, Mapping):
        raise DurableError(f"{place} is no object: give one", code="wrong_kind", field=place)
    for name in given:
        if name not in known:
            raise DurableError(f"{place} has an unknown field: use {', '.join(known)}", code="unknown_field", field=place)
    return dict(given)


def _sequence(given: object, place: str) -> Sequence[Json]:
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise DurableError(f"{place} is no list: give one", code="wrong_kind", field=place)
    return given
