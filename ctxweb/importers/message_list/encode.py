"""Lanes and their events as the JSON records of a message list. What has its default is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any

from compaction.messages import BlockId, Body, Message
from compaction.transcript import Appended, Called, Compaction, Edit, Edited, Event, Finding, Lane, ModelCall, Noted, Shown

FORMAT = "ctxweb.message_list"
VERSION = 1

JsonObject = dict[str, Any]
TextOf = Callable[[Body], str]


def header_record(**told: Any) -> JsonObject:
    """The first record of a file."""
    return {"format": FORMAT, "version": VERSION, **told}


def lane_record(lane: Lane) -> JsonObject:
    """Opens a lane: the records up to the next one of this type are its events."""
    return {"type": "lane", **_told(lane, "events", "record_numbers")}


def durable_record(state: JsonObject) -> JsonObject:
    """The durable state of the lane that was opened last."""
    return {"type": "durable", "state": state}


def event_records(events: Iterable[Event], text_of: TextOf) -> Iterator[JsonObject]:
    """The events of a lane. A message that enters the view at once says so itself."""
    waiting: Message | None = None
    for event in events:
        if waiting is not None:
            shown = isinstance(event, Shown) and event.seqs[:1] == (waiting.seq,)
            yield _message(waiting, text_of, shown=shown)
            waiting = None
            if shown and isinstance(event, Shown):
                if len(event.seqs) > 1:
                    yield {"type": "show", "seqs": list(event.seqs[1:])}
                continue
        if isinstance(event, Appended):
            waiting = event.message
        else:
            yield _record(event, text_of)
    if waiting is not None:
        yield _message(waiting, text_of, shown=False)


def _record(event: Shown | Edited | Called | Noted, text_of: TextOf) -> JsonObject:
    match event:
        case Shown(seqs=seqs):
            return {"type": "show", "seqs": list(seqs)}
        case Called(call=call):
            return _call(call)
        case Edited(compaction=compaction, base=base):
            record = _compaction(compaction, text_of)
            return record if base is None else {**record, "base": list(map(str, base))}
        case Noted(finding=finding):
            return _finding(finding)


def _message(message: Message, text_of: TextOf, *, shown: bool) -> JsonObject:
    blocks = [{**_told(block, "id", "body"), "text": text_of(block.body)} for block in message.blocks]
    record = {"type": "message", **_told(message, "blocks", "line", "record"), "blocks": blocks}
    return record if shown else {**record, "shown": False}


def _call(call: ModelCall) -> JsonObject:
    return {"type": "call", **_told(call, "line", "usage"), "seq": call.seq, "previous": call.previous, "usage": _told(call.usage)}


def _compaction(compaction: Compaction, text_of: TextOf) -> JsonObject:
    return {
        "type": "compaction",
        **_told(compaction, "line", "edits"),
        "edits": [_edit(edit, text_of) for edit in compaction.edits],
    }


def _edit(edit: Edit, text_of: TextOf) -> JsonObject:
    record = _told(edit, "body")
    return record if edit.body is None else {**record, "text": text_of(edit.body)}


def _finding(finding: Finding) -> JsonObject:
    return {"type": "finding", **_told(finding, "line")}


def _told(value: Any, *without: str) -> JsonObject:
    """The fields of a frozen value that differ from their defaults, as JSON."""
    names = (field.name for field in fields(value) if field.name not in without and getattr(value, field.name) != field.default)
    return {name: _json(getattr(value, name)) for name in names}


def _json(value: Any) -> Any:
    if isinstance(value, BlockId):
        return str(value)
    return [_json(item) for item in value] if isinstance(value, tuple) else value
