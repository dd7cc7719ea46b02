"""The surface: which events of a dsh log the model sees, in order. The log never changes; replacements change the surface."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.dsh.events import ASSISTANT, RESULT, SURFACE_TYPES, JsonObject, content_of, data_of, message_of, type_of
from compaction.errors import SessionLogError

APPEND = "append"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """The event `seq` stands for the visible events from `start` to `end`, by position; these are `shadowed`, in order."""

    seq: int
    start: int
    end: int
    shadowed: tuple[int, ...]


class Surface:
    """The visible events, by seq, after the events that were taken."""

    def __init__(self) -> None:
        self.nodes: list[int] = []
        self.replacements: list[Replacement] = []
        self._next = 0
        self._results: dict[int, bytes] = {}

    def take(self, event: JsonObject) -> Replacement | None:
        """Take the next event of the log, and return what it replaced. Raises SessionLogError for the first broken rule."""
        seq = event.get("seq")
        if seq != self._next or isinstance(seq, bool):
            raise SessionLogError(
                f"event {seq} stands where {self._next} is due", code="event_seq_gap", seq=_shown(seq), expected=self._next
            )
        self.check(event)
        return self.put(event)

    def check(self, event: JsonObject) -> None:
        """Raise SessionLogError for the first rule that the event breaks; the order of seqs is not looked at."""
        kind = type_of(event)
        if kind not in SURFACE_TYPES:
            if "surfaceOp" in event or "sourceEventSeqs" in event:
                raise SessionLogError(
                    f"{kind} is never visible, so it cannot say where it stands", code="surface_marker_forbidden", event=kind
                )
            return
        if "surfaceOp" not in event:
            raise SessionLogError(f"{kind} does not say how it becomes visible", code="surface_marker_missing", event=kind)
        if not _is_op(event["surfaceOp"]):
            raise SessionLogError(f"{kind} says neither append nor a replaced range", code="surface_op_invalid", event=kind)
        _check_sources(event, kind)
        if event["surfaceOp"] != APPEND:
            self._check_replacement(event, kind)

    def put(self, event: JsonObject) -> Replacement | None:
        """Let an event take its place, whatever rule it breaks; one whose range is not visible stands at the end."""
        seq = event["seq"]
        self._next = seq + 1
        if type_of(event) not in SURFACE_TYPES:
            return None
        if type_of(event) == RESULT:
            self._results[seq] = _beside_content(event)
        replacement = self._replacement(event)
        if replacement is None:
            self.nodes.append(seq)
            return None
        place = self.nodes.index(replacement.start)
        self.nodes[place : place + len(replacement.shadowed)] = [seq]
        self.replacements.append(replacement)
        return replacement

    def _replacement(self, event: JsonObject) -> Replacement | None:
        op = event.get("surfaceOp")
        if not isinstance(op, dict) or op.get("start") not in self.nodes or op.get("end") not in self.nodes:
            return None
        first, last = self.nodes.index(op["start"]), self.nodes.index(op["end"])
        if last < first:
            return None
        return Replacement(seq=event["seq"], start=op["start"], end=op["end"], shadowed=tuple(self.nodes[first : last + 1]))

    def _check_replacement(self, event: JsonObject, kind: str) -> None:
        op: dict[str, int] = event["surfaceOp"]
        for side in ("start", "end"):
            if op[side] not in self.nodes:
                raise SessionLogError(
                    f"event {event.get('seq')} replaces from or to event {op[side]}, which is not visible",
                    code=f"surface_{side}_unknown",
                    **{side: op[side]},
                )
        replacement = self._replacement(event)
        if replacement is None:
            raise SessionLogError(
                f"event {op['end']} stands before event {op['start']}", code="surface_range_reversed", start=op["start"], end=op["end"]
            )
        sources = event.get("sourceEventSeqs", ())
        missing = next((seq for seq in replacement.shadowed if seq not in sources), None)
        if missing is not None:
            raise SessionLogError(f"event {missing} is replaced and no source", code="surface_source_missing", missing=missing)
        if kind == RESULT and not self._is_same_result(event, replacement.shadowed):
            raise SessionLogError(
                f"event {event.get('seq')} changes more than the content of one tool result", code="tool_result_rewrite_changed_more"
            )

    def _is_same_result(self, event: JsonObject, shadowed: Sequence[int]) -> bool:
        return len(shadowed) == 1 and self._results.get(shadowed[0]) == _beside_content(event)


def fold_surface(events: Iterable[JsonObject]) -> Surface:
    """The surface after all events. Raises SessionLogError for the first broken rule."""
    surface = Surface()
    for event in events:
        surface.take(event)
    return surface


def _is_op(op: Any) -> bool:
    if op == APPEND:
        return True
    is_range = isinstance(op, dict) and set(op) == {"op", "start", "end"} and op["op"] == "replace"
    return is_range and all(type(op[side]) is int and op[side] >= 0 for side in ("start", "end"))


def _check_sources(event: JsonObject, kind: str) -> None:
    if "sourceEventSeqs" not in event:
        return
    sources, seq = event["sourceEventSeqs"], event.get("seq")
    if not isinstance(sources, list) or not all(type(source) is int for source in sources):
        raise SessionLogError(f"the sources of event {seq} are no list of seqs", code="sources_invalid", event=kind)
    later = next((source for source in sources if not 0 <= source < (seq or 0)), None)
    if later is not None:
        raise SessionLogError(
            f"event {seq} cites event {later}, which is not earlier", code="source_not_earlier", seq=_shown(seq), source=later
        )
    if len(set(sources)) != len(sources):
        raise SessionLogError(f"event {seq} cites an event twice", code="sources_duplicate")
    if not sources and kind != ASSISTANT:
        raise SessionLogError(f"event {seq} cites no event at all", code="sources_empty")


def _beside_content(event: JsonObject) -> bytes:
    """Digest of all of a tool result but its content."""
    message = message_of(event)
    blocks = [{**block, "content": None} if isinstance(block, dict) else block for block in content_of(message)]
    text = json.dumps({**data_of(event), "message": {**message, "content": blocks}}, sort_keys=True)
    return hashlib.sha256(text.encode()).digest()


def _shown(value: Any) -> int | str:
    return value if isinstance(value, int) else str(value)
