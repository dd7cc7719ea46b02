"""Reads a Codex rollout: one envelope {timestamp, ordinal?, type, payload} a line, in file order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from compaction.transcript import Lane
from ctxweb.importers.base import Reading
from ctxweb.importers.codex.head import Head, head_of
from ctxweb.importers.codex.inherited import Prefix
from ctxweb.importers.codex.thread import JsonObject, Thread
from ctxweb.importers.lane_log import Likeness, Place
from ctxweb.importers.physical import RawRecord
from ctxweb.importers.responses_items import Item, is_known_type, item_type, read_item
from ctxweb.importers.values import count, time_ms, word

SILENT_ENVELOPES = frozenset(
    {
        "world_state",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "security_risk_score",
        "realtime_item",
        "token_usage_record",
    }
)
"""Known records that no prompt holds: state that later items are made from, and measurements."""

ENVELOPES = frozenset({"session_meta", "response_item", "compacted", "turn_context", "event_msg"}) | SILENT_ENVELOPES


def is_envelope(value: Any) -> bool:
    return isinstance(value, dict) and word(value.get("type")) in ENVELOPES and isinstance(value.get("payload"), dict)


class RolloutReader:
    """Reader of one rollout: one lane, whatever session ids its copied prefix carries."""

    def __init__(self) -> None:
        self._thread = Thread()
        self._head: Head | None = None
        self._prefix = Prefix()
        self._items: dict[tuple[str, str], Likeness] = {}
        self._readers: dict[str, Callable[[JsonObject, Place], str]] = {
            "session_meta": self._read_meta,
            "response_item": self._read_item,
            "compacted": self._read_compacted,
            "turn_context": self._read_turn_context,
            "event_msg": self._read_event,
        }

    def feed(self, record: RawRecord) -> Reading:
        value = record.value
        if not isinstance(value, dict):
            return Reading(verdict=record.verdict or "unknown_type")
        if not is_envelope(value):
            return Reading(verdict=record.verdict or "unknown_type", type=word(value.get("type")) or "")
        kind, payload = value["type"], value["payload"]
        place = Place(line=record.line, record=record.number, at=time_ms(value.get("timestamp")))
        reader = self._readers.get(kind)
        verdict = reader(payload, place) if reader else "ok"
        self._watch_prefix(value, payload, place)
        inner = word(payload.get("type"))
        return Reading(verdict=record.verdict or verdict, type=f"{kind}/{inner}" if inner else kind, bodies=self._thread.log.take_bodies())

    def lanes(self) -> Iterable[Lane]:
        head = self._head or Head()
        thread = self._thread
        yield Lane(
            key=head.native_id or thread.start(),
            native_id=head.native_id,
            kind=head.kind,
            events=thread.finish(inherited_until=self._prefix.until),
            parent_native_id=head.parent_native_id,
            title=thread.title,
            cwd=head.cwd,
            git_branch=head.git_branch,
            model=thread.model,
            producer=head.producer,
            producer_version=head.version,
            context_window=thread.window,
        )

    def _watch_prefix(self, value: JsonObject, payload: JsonObject, place: Place) -> None:
        kind, inner = value["type"], payload.get("type")
        by_model = kind == "response_item" and (payload.get("role") == "assistant" or inner == "reasoning" or str(inner).endswith("_call"))
        starts = kind == "turn_context" or (kind == "event_msg" and inner in ("task_started", "turn_started", "user_message"))
        self._prefix.watch(place.record, count(value.get("ordinal")), place.at, starts_turn=starts, by_model=by_model)

    def _read_meta(self, payload: JsonObject, place: Place) -> str:
        """The first head is this session's own; a later one is the parent's, in a copied prefix."""
        if self._head is not None:
            return "ok"
        self._head = head = head_of(payload)
        moments = [moment for moment in (place.at, time_ms(payload.get("timestamp"))) if moment is not None]
        self._prefix = Prefix(start_ordinal=head.start_ordinal, is_fork=head.is_fork, head_ms=max(moments, default=None))
        if head.instructions:
            self._thread.add_instructions(head.instructions, place)
        return "ok"

    def _read_item(self, payload: JsonObject, place: Place) -> str:
        kind = item_type(payload)
        if not is_known_type(kind):
            return "unknown_type"
        item = read_item(payload)
        if item is None:
            return "ok"
        if self._is_copy(kind, item):
            return "duplicate"
        self._thread.add_item(item, place)
        return "ok"

    def _is_copy(self, kind: str, item: Item) -> bool:
        """Whether an item with the same id, type and content was logged before."""
        if item.draft.native_id is None:
            return False
        key = (kind, item.draft.native_id)
        is_known = self._items.get(key) == item.draft.likeness
        self._items.setdefault(key, item.draft.likeness)
        return is_known

    def _read_compacted(self, payload: JsonObject, place: Place) -> str:
        self._thread.compact(payload, place)
        return "ok"

    def _read_turn_context(self, payload: JsonObject, _: Place) -> str:
        self._thread.set_turn_context(payload)
        return "ok"

    def _read_event(self, payload: JsonObject, place: Place) -> str:
        self._thread.add_event(payload, place)
        return "ok"
