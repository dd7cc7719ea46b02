"""Versions of durable state as frozen states, and the rows of their index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any

from django.conf import settings

from compaction.durable.canonical import Item, state_from_json
from compaction.durable.values import DOMAINS, DurableContextState, DurableFact, PendingItem, RetrievalEvidence
from compaction.errors import SourcePointerError
from compaction.sources.parse import parse_source_pointer
from compaction.typed_json import to_json
from ctxweb.importers.values import clean_text
from ctxweb.models import DurableVersion
from ctxweb.sources.grammars import GRAMMARS
from ctxweb.storable import pointer_key

EMPTY = DurableContextState()
INDEX_COLUMNS = (
    "project_id", "session", "version", "domain", "ordinal", "item_id", "pointer", "status", "confirmed_at", "confirmed_sha256",
)  # fmt: skip
MOST_ID_CHARS = 200  # of an index; the state keeps the whole id


def last_version(*, session: str) -> DurableVersion | None:
    return DurableVersion.objects.filter(session=session).order_by("-number").first()


def state_of(version: DurableVersion | None) -> DurableContextState:
    """The state that a version holds; an empty one before the first. Raises DurableError where the row was damaged."""
    return EMPTY if version is None else state_from_json(version.state, most_items=max(settings.CTXWEB_DURABLE_ITEMS, _ANY))


def confirmed_of(version: DurableVersion | None) -> dict[str, str]:
    """What each source was when it was confirmed: SHA-256 by pointer."""
    return {} if version is None else dict(json.loads(version.confirmed))


def pointer_of(item: Item) -> str:
    """Where the source of an item is: empty for a retrieval trace, which has none."""
    if isinstance(item, DurableFact | PendingItem):
        return item.source_pointer
    return item.source_id if isinstance(item, RetrievalEvidence) else ""


def verified_pointer(item: Item) -> str:
    """The pointer that checks look up: that of a fact or pending item, whatever it is, and the `source_id` of evidence
    where it reads as one. Else empty."""
    pointer = pointer_of(item)
    if isinstance(item, RetrievalEvidence) and not _reads_as_pointer(pointer):
        return ""
    return pointer


def pointers_of(items: Iterable[Item]) -> tuple[str, ...]:
    """The distinct pointers of items that checks look up, in their order."""
    return tuple(dict.fromkeys(filter(None, map(verified_pointer, items))))


def items_of(state: DurableContextState) -> Iterator[Item]:
    for domain in DOMAINS:
        yield from getattr(state, domain)


def index_rows(version: DurableVersion, state: DurableContextState, confirmed: Mapping[str, str]) -> Iterator[tuple[Any, ...]]:
    """The rows of DurableItem that a version makes."""
    for domain in DOMAINS:
        for ordinal, item in enumerate(getattr(state, domain)):
            pointer = verified_pointer(item)
            yield (
                version.project_id, version.session, version.number, domain, ordinal, clean_text(item.id)[:MOST_ID_CHARS],
                pointer_key(pointer), getattr(item, "status", ""), _confirmed_at(item), confirmed.get(pointer, ""),
            )  # fmt: skip


def shown_item(item: Item) -> dict[str, Any]:
    """The fields of an item as they can be shown."""
    fields: dict[str, Any] = shown(to_json(item))
    return fields


def shown(value: Any) -> Any:
    """A value with visible signs for NUL and lone surrogates, which no page and no twin can hold. The canonical JSON of a
    version has the texts as they are."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {name: shown(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [shown(one) for one in value]
    return shown(to_json(value)) if is_dataclass(value) else value


_ANY = 10**9  # a stored state is read whatever the setting is now


def _confirmed_at(item: Item) -> str:
    return str(getattr(item, "last_confirmed_at", "") or getattr(item, "captured_at", ""))[:40]


def _reads_as_pointer(text: str) -> bool:
    try:
        parse_source_pointer(text, GRAMMARS)
    except SourcePointerError:
        return False
    return True
