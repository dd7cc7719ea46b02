"""Judges the records of a dsh log and hands their events to the session they belong to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from compaction.dsh.events import KNOWN_TYPES, JsonObject, modern, type_of
from compaction.dsh.session_log import LogHeader, events_of, is_header, read_header
from compaction.errors import SessionLogError
from compaction.transcript import Lane, LaneKind
from ctxweb.importers.base import Reading
from ctxweb.importers.dsh.thread import Thread
from ctxweb.importers.lane_log import Place
from ctxweb.importers.physical import PhysicalError, RawRecord
from ctxweb.importers.values import count, time_ms, word

TEMPLATE_SIGN = "{{"
"""Committed examples have names in braces where an id was, the same in many files."""


class UnreadableLog(PhysicalError):
    """A header that says that the log is of another version, or that it is none."""

    code = "unsupported_version"


@dataclass(slots=True)
class _Session:
    header: LogHeader | None
    thread: Thread = field(default_factory=Thread)
    records: list[int] = field(default_factory=list)


class DshReader:
    """One lane for each header; a log without one is a lane all the same."""

    def __init__(self) -> None:
        self._sessions: list[_Session] = []

    def feed(self, record: RawRecord) -> Reading:
        value = record.value
        if not isinstance(value, dict):
            return Reading(verdict=record.verdict or "unknown_type")
        verdict, flags = self._read_header(value) if is_header(value) else self._read_record(value, record)
        session = self._sessions[-1] if self._sessions else None
        if session is not None and session is not self._sessions[0]:
            session.records.append(record.number)
        bodies = session.thread.log.take_bodies() if session is not None else ()
        return Reading(verdict=record.verdict or verdict, type=word(type_of(value)) or "", bodies=bodies, flags=flags)

    def lanes(self) -> Iterable[Lane]:
        return (self._lane(session) for session in self._sessions)

    def _read_header(self, value: JsonObject) -> tuple[str, tuple[str, ...]]:
        try:
            header = read_header(value)
        except SessionLogError as error:
            raise UnreadableLog(f"This dsh log cannot be read: {error}.") from error
        known = next((session for session in self._sessions if session.header is not None and session.header.id == header.id), None)
        if known is not None:
            return "duplicate", ()
        self._sessions.append(_Session(header=header))
        return "ok", ()

    def _read_record(self, value: JsonObject, record: RawRecord) -> tuple[str, tuple[str, ...]]:
        thread = self._thread()
        try:
            events = events_of(value, thread.next_seq)
        except SessionLogError as error:
            thread.blur()
            thread.log.note(error.code, line=record.line)
            return "unknown_type", (error.code,)
        if len(events) == 1:
            return self._take(thread, modern(events[0]), record), ()
        verdicts = {self._take(thread, event, record) for event in events}
        return max(verdicts, key=("duplicate", "ok", "unknown_type").index), ()

    def _take(self, thread: Thread, event: JsonObject, record: RawRecord) -> str:
        """Take one event; what is not known as one may be left out only if it says so."""
        seq = count(event.get("seq"))
        kind = type_of(event)
        is_known = kind in KNOWN_TYPES and seq is not None
        if not is_known and event.get("ignorable") is not True:
            thread.blur()
            said = f"{word(kind) or 'no type'}: not marked as ignorable, so later views are approximate"
            thread.log.note("unknown_event", line=record.line, detail=said)
        if seq is None:
            return "unknown_type"
        if seq < thread.next_seq:
            return "duplicate"
        thread.take(event, Place(line=record.line, record=record.number, at=time_ms(event.get("time"))))
        return "ok" if is_known else "unknown_type"

    def _thread(self) -> Thread:
        if not self._sessions:
            self._sessions.append(_Session(header=None))
        return self._sessions[-1].thread

    def _lane(self, session: _Session) -> Lane:
        header, thread = session.header or LogHeader(id=""), session.thread
        events = list(thread.finish(seed_length=header.seed_length))
        return Lane(
            key=_key(header, thread),
            native_id=word(header.id),
            kind=_kind(header),
            events=events,
            parent_native_id=word(header.parent),
            title=thread.title,
            cwd=word(header.cwd),
            model=thread.model,
            producer=word(header.preset),
            context_window=thread.window,
            record_numbers=tuple(session.records),
        )


def _kind(header: LogHeader) -> LaneKind:
    if header.is_subagent or header.depth > 0:
        return "subagent"
    return "fork" if header.parent is not None else "main"


def _key(header: LogHeader, thread: Thread) -> str:
    """The session's id; where it is none of its own, with the first message."""
    if header.id and TEMPLATE_SIGN not in header.id:
        return header.id
    start = thread.log.likeness(1).hex() if thread.log.messages else ""
    return f"{header.id}:{start}"


def is_event(value: Any) -> bool:
    """Whether a value is an event or a packed row of such a log."""
    return isinstance(value, dict) and isinstance(value.get("data"), dict) and type_of(modern(value)) in _TYPES


_TYPES = KNOWN_TYPES | {"text-chunks", "reasoning-chunks", "tool-call-chunks"}
