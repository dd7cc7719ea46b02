"""mini-harness 09's session log: events that are only appended, of which the messages of the next request are derived.

A pruned result stays in the log; a prune event with its price and a replacing result event come after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from compaction.course09.estimates import estimate_message
from compaction.errors import SessionLogError
from compaction.prune import PruneSizes, prune_text

ROLES: Mapping[str, str] = {"user/message": "user", "assistant/message": "assistant", "tool/result": "tool"}
PRUNE = "compaction/prune"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEvent:
    """One line of the log: `id` is its place from 0, `fields` what it says."""

    id: int
    type: str
    fields: Mapping[str, object]

    @property
    def content(self) -> str | None:
        """Its text; None where it has none."""
        content = self.fields.get("content")
        return content if isinstance(content, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedMessage:
    """A message as the log gives it to the next request."""

    role: str
    content: str | None
    call_id: str | None
    tool_calls: tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunePass:
    """The log after one pass of the pruner: how many results it cut, and by how many characters, marks included."""

    log: SessionLog
    pruned: int
    chars_removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLog:
    """A checked log. SessionLogError where ids have a gap, a type is empty, or a replaced range is not visible."""

    events: tuple[LogEvent, ...]
    surface: tuple[LogEvent, ...]

    @classmethod
    def of(cls, events: Iterable[LogEvent]) -> SessionLog:
        """The log of these events, and what of them is visible."""
        known = tuple(events)
        surface = list[LogEvent]()
        for index, event in enumerate(known):
            _check(event, index)
            if event.type in ROLES:
                surface[_place(event, surface)] = [event]
        return cls(events=known, surface=tuple(surface))

    def messages(self) -> tuple[DerivedMessage, ...]:
        """The messages of the next request."""
        return tuple(map(_derived, self.surface))

    def pruned(self, sizes: PruneSizes) -> PrunePass:
        """Cut each visible result that is too large. A second pass over the result finds nothing."""
        log, removed = list(self.events), list[int]()
        for event in self.surface:
            cut = prune_text(event.content or "", sizes) if event.type == "tool/result" else None
            if cut is not None:
                log += _prune_events(event, cut.text, at=len(log))
                removed.append(len(event.content or "") - len(cut.text))
        return PrunePass(log=SessionLog.of(log), pruned=len(removed), chars_removed=sum(removed))


def _check(event: LogEvent, index: int) -> None:
    if type(event.id) is not int or event.id != index:
        raise SessionLogError(f"event {index} has the id {event.id}: ids count from 0", code="event_id_gap", index=index, id=event.id)
    if not isinstance(event.type, str) or not event.type:
        raise SessionLogError(f"event {index} has no type: give it one", code="event_type_invalid", index=index)


def _place(event: LogEvent, surface: Sequence[LogEvent]) -> slice:
    """The slice of the surface that an event takes: behind its end, or the range that it replaces."""
    operation = event.fields.get("surface_op")
    if not isinstance(operation, Mapping):
        return slice(len(surface), len(surface))
    visible = [shown.id for shown in surface]
    start, end = operation.get("start"), operation.get("end")
    if isinstance(start, int) and isinstance(end, int) and start > end:
        raise SessionLogError(f"event {event.id} replaces {start} to {end}: the start is after the end", code="surface_range_invalid")
    if start not in visible or end not in visible:
        raise SessionLogError(f"event {event.id} replaces events that are not visible", code="surface_node_unknown")
    first, last = visible.index(start), visible.index(end)
    if first > last:
        raise SessionLogError(f"event {event.id} replaces {start} to {end}, which stand in the other order", code="surface_range_invalid")
    return slice(first, last + 1)


def _derived(event: LogEvent) -> DerivedMessage:
    call_id, calls = event.fields.get("call_id"), event.fields.get("tool_calls")
    return DerivedMessage(
        role=ROLES[event.type],
        content=event.content,
        call_id=call_id if isinstance(call_id, str) else None,
        tool_calls=tuple(calls) if isinstance(calls, list | tuple) else (),
    )


def _prune_events(event: LogEvent, text: str, *, at: int) -> Iterator[LogEvent]:
    """What the log gets for one cut result: the prune event with its price, then the result that replaces it."""
    span = {"start": event.id, "end": event.id}
    price = {"shadowed_range": span, "shadowed_seqs": [event.id], "shadowed_token_count": estimate_message(event.content)}
    yield LogEvent(id=at, type=PRUNE, fields=price)
    surface = {"surface_op": {"op": "replace", **span}, "source_event_seqs": [event.id]}
    yield replace(event, id=at + 1, fields={**event.fields, "content": text, **surface})
