"""Recognises transcripts of learn-workbuddy by the envelope of their lines, and reads them.

A line is one message with the session, its number in it and an id that repeats both. The log only grows; what was sent is
the messages so far. A line whose envelope contradicts its place is shown as it is, and the contradiction is a finding: a source pointer
to it is not available.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from compaction.messages import Origin, Role
from ctxweb.importers.anthropic_messages.messages import is_message, message_drafts
from ctxweb.importers.chat import Conversation, Exchange
from ctxweb.importers.exchange_reader import ExchangeReader, fidelity_of
from ctxweb.importers.lane_log import Draft, Place, draw
from ctxweb.importers.physical import Head
from ctxweb.importers.values import plain_text, time_ms, word

SCHEME = "transcript:"
ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}
ORIGINS: dict[Role, Origin] = {"user": "human", "assistant": "model", "system": "harness", "tool": "tool"}
CERTAIN, BY_NUMBER = 1.0, 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptLine(Exchange):
    """One line as what it adds to its session. `sequence` and `event_id` as told, None where they are not."""

    sequence: Any = None
    event_id: Any = None


class TranscriptDialect:
    def exchange_of(self, value: Any) -> TranscriptLine | None:
        if not is_line(value):
            return None
        at = time_ms(value.get("recorded_at"))
        return TranscriptLine(
            prompt=_drafts(value, at),
            continues="",
            session_id=word(value.get("session_id")),
            at=at,
            sequence=value.get("sequence"),
            event_id=value.get("event_id"),
        )

    def message_of(self, value: Any) -> Exchange | None:
        return None

    def take(self, conversation: Conversation, exchange: Exchange, place: Place) -> None:
        if isinstance(exchange, TranscriptLine):
            for code in _contradictions(exchange, place.line):
                conversation.log.note(code, line=place.line)
        conversation.open(exchange, place)
        conversation.close(exchange, place, fidelity_of(conversation, exchange))


def is_line(value: Any) -> bool:
    """Whether a value is a line of such a transcript: a message in an envelope."""
    if not isinstance(value, dict) or word(value.get("role")) not in ROLES or "content" not in value:
        return False
    return _has_event_id(value) or (isinstance(value.get("session_id"), str) and type(value.get("sequence")) is int)


def _has_event_id(value: Mapping[str, Any]) -> bool:
    event_id = value.get("event_id")
    return isinstance(event_id, str) and event_id.startswith(SCHEME)


def _drafts(value: Mapping[str, Any], at: int | None) -> tuple[Draft, ...]:
    native_id = word(value.get("event_id"))
    if is_message(value):
        return tuple(replace(draft, native_id=native_id, at=at) for draft in message_drafts(value))
    role = ROLES[value["role"]]
    plain = plain_text(value["content"])
    piece = draw("text", plain.text, flags=plain.flags)
    return (Draft(role=role, origin=ORIGINS[role], pieces=(piece,), native_id=native_id, at=at),)


def _contradictions(line: TranscriptLine, number: int) -> Iterator[str]:
    """What of the envelope does not fit the place of the line."""
    if line.sequence is not None and (type(line.sequence) is not int or line.sequence != number):
        yield "transcript_sequence_mismatch"
    if line.event_id is not None and line.event_id != f"{SCHEME}{line.session_id}:{number}":
        yield "transcript_event_id_mismatch"


class WorkbuddyImporter:
    id = "workbuddy"
    title = "learn-workbuddy transcript"
    document_paths: tuple[tuple[str, ...], ...] = ()

    def sniff(self, head: Head) -> float:
        """Certain where ids are those of transcript events; likely where each line has its session and number."""
        lines = [value for value in head.values if is_line(value)]
        if not lines or len(lines) * 2 <= len(head.values):
            return 0.0
        return CERTAIN if any(map(_has_event_id, lines)) else BY_NUMBER

    def looks_like_record(self, value: Any) -> bool:
        return is_line(value)

    def reader(self) -> ExchangeReader:
        return ExchangeReader(TranscriptDialect())


IMPORTER = WorkbuddyImporter()
