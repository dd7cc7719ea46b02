"""The replacement history of a `compacted` record: exactly what the next prompt holds, apart from the instructions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from compaction.transcript import Mechanism
from ctxweb.importers.codex.history import texts_of, user_origin
from ctxweb.importers.lane_log import Draft
from ctxweb.importers.responses_items import read_item
from ctxweb.importers.values import word

REFERENCES = frozenset({"reference", "reference_v2"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The items of the next prompt: drafts, or seqs of logged messages. `missing` are references to items never logged."""

    items: tuple[Draft | int, ...]
    missing: tuple[str, ...] = ()

    @property
    def is_opaque(self) -> bool:
        """Whether it holds an encrypted summary."""
        return any(not isinstance(item, int) and item.origin == "summary" and item.pieces[0][0].kind == "opaque" for item in self.items)


def checkpoint_of(payload: Mapping[str, Any], known: Mapping[str, int]) -> Checkpoint | None:
    """The checkpoint of a `compacted` record; None if it has none. `known` finds the seq of a logged item by its id."""
    entries = payload.get("replacement_history_entries")
    history = payload.get("replacement_history")
    if not isinstance(entries, list):
        entries = [{"type": "inline", "item": item} for item in history] if isinstance(history, list) else None
    if entries is None:
        return None
    items: list[Draft | int] = []
    missing: list[str] = []
    for entry in entries:
        if isinstance(entry, Mapping) and word(entry.get("type")) in REFERENCES:
            name = word(entry.get("item_id")) or ""
            found = known.get(name)
            if found is None:
                missing.append(name)
            else:
                items.append(found)
        else:
            items.extend(_inline(entry, word(payload.get("message"))))
    return Checkpoint(items=tuple(items), missing=tuple(missing))


def mechanism_of(payload: Mapping[str, Any], checkpoint: Checkpoint | None) -> Mechanism:
    """A local compaction has a readable summary in `message`; a remote one leaves it empty."""
    if checkpoint is not None and checkpoint.is_opaque:
        return "remote_opaque"
    return "summary" if checkpoint is None or word(payload.get("message")) else "checkpoint_replace"


def has_meaning(payload: Mapping[str, Any]) -> bool:
    """A record that holds only the history of the approval guardian changes no prompt."""
    told = any(payload.get(name) for name in ("message", "replacement_history", "replacement_history_entries"))
    return told or payload.get("guardian_history") is None


def _inline(entry: Any, summary: str | None) -> Iterator[Draft]:
    item = read_item(entry["item"]) if isinstance(entry, Mapping) and isinstance(entry.get("item"), Mapping) else None
    if item is None:
        return
    draft = replace(user_origin(item.draft), records=0)
    yield replace(draft, origin="summary") if summary is not None and texts_of(draft) == [summary] else draft
