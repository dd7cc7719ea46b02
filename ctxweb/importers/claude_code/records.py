"""One record to an entry: the fields that matter, in camel case as on disk or in snake case as the SDK streams them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from compaction.messages import DIGEST_BYTES, Body
from compaction.transcript import Trigger
from ctxweb.importers.anthropic_content import Content, Piece, read_content
from ctxweb.importers.claude_code.entries import (
    NOTHING,
    UNNAMED,
    Boundary,
    Entry,
    EntryKind,
    Extra,
    Mark,
    MicroBoundary,
    Replacement,
)
from ctxweb.importers.physical import RawRecord
from ctxweb.importers.values import body_of, clean_text, compact_json, count, time_ms, word

SYNTHETIC_MODEL = "<synthetic>"
MAX_WORD_CHARS = 200

VOLATILE = frozenset(
    (
        "cwd",
        "entrypoint",
        "gitBranch",
        "isSidechain",
        "logicalParentUuid",
        "parentUuid",
        "requestId",
        "sessionId",
        "session_id",
        "slug",
        "timestamp",
        "userType",
        "uuid",
        "version",
    )
)
"""Fields that may differ between two copies of one record, and that a row shows anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryReading:
    """An entry and the texts that it brings."""

    entry: Entry
    bodies: tuple[Body, ...] = ()


def session_of(value: Mapping[str, Any]) -> str:
    return word(value.get("sessionId")) or word(value.get("session_id")) or ""


def read_entry(record: RawRecord, value: dict[str, Any], kind: EntryKind, *, follows_boundary: bool = False) -> EntryReading:
    """The entry of a record whose type is `kind`. `follows_boundary`: no answer came since the last boundary of the source."""
    message = _mapping(value.get("message"))
    content = _content(value, kind)
    extra = _extra(value, kind, content)
    marks = _marks(value, message, kind, follows_boundary=follows_boundary)
    entry = Entry(
        number=record.number,
        line=record.number if record.line == record.number else record.line,  # one object for both, as in most files
        kind=kind,
        uuid=word(value.get("uuid")),
        parent=_parent(value),
        session=session_of(value),
        at=time_ms(value.get("timestamp")),
        digest=_digest(value, kind, content.pieces),
        pieces=content.pieces,
        call_id=_call_id(value, message) if kind == "assistant" and "no_call" not in marks else None,
        model=word(message.get("model")),
        agent=word(value.get("agentId")) or word(value.get("parent_tool_use_id")),
        marks=_shared(marks),
        extra=extra,
    )
    return EntryReading(entry=entry, bodies=(*content.bodies, *(replacement.body for replacement in extra.replacements)))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _words(values: Any) -> tuple[str, ...]:
    return tuple(found for value in values if (found := word(value))) if isinstance(values, list) else ()


def _either(value: Mapping[str, Any], camel: str, snake: str) -> Any:
    return value.get(camel) if camel in value else value.get(snake)


def _parent(value: Mapping[str, Any]) -> str | None:
    if "parentUuid" not in value:
        return UNNAMED
    return None if value["parentUuid"] is None else word(value["parentUuid"]) or UNNAMED


_SHARED_MARKS: dict[frozenset[Mark], frozenset[Mark]] = {}


def _shared(marks: frozenset[Mark]) -> frozenset[Mark]:
    """One object for equal sets: a file has few of them and many records."""
    return _SHARED_MARKS.setdefault(marks, marks)


def _marks(value: Mapping[str, Any], message: Mapping[str, Any], kind: EntryKind, *, follows_boundary: bool) -> frozenset[Mark]:
    marks: set[Mark] = set()
    if value.get("isSidechain") is True or word(value.get("parent_tool_use_id")):
        marks.add("sidechain")
    if value.get("isMeta") is True:
        marks.add("meta")
    if kind == "user" and value.get("isCompactSummary") is True:
        marks.update(("summary",) if follows_boundary else ("summary", "unannounced"))
    if kind == "assistant" and (message.get("model") == SYNTHETIC_MODEL or value.get("isApiErrorMessage") is True):
        marks.add("no_call")
    return frozenset(marks)


def _call_id(value: Mapping[str, Any], message: Mapping[str, Any]) -> str | None:
    """Id of the model call; gateways may leave out requestId or write an empty one, so it is a fallback only."""
    named = word(message.get("id")) or word(value.get("requestId"))
    return named or (word(value.get("uuid")) if isinstance(message.get("usage"), dict) else None)


def _content(value: dict[str, Any], kind: EntryKind) -> Content:
    if kind in ("user", "assistant"):
        message = value.get("message")
        content = read_content(message.get("content") if isinstance(message, dict) else message)
        return _with_agent(content, value) if kind == "user" else content
    if kind == "system":
        text = value.get("content")
        return read_content(text if isinstance(text, str) and text else compact_json(_lasting(value)))
    if kind == "attachment":
        return read_content(compact_json(value.get("attachment")))
    return Content()


def _with_agent(content: Content, value: Mapping[str, Any]) -> Content:
    """Results of a subagent carry its id as the flag `agent:<id>`, by which its lane is linked to the call."""
    agent = word(_mapping(value.get("toolUseResult")).get("agentId"))
    if agent is None:
        return content
    pieces = tuple(_flagged(piece, f"agent:{agent}") if piece.kind == "tool_result" else piece for piece in content.pieces)
    return Content(pieces=pieces, bodies=content.bodies, flags=content.flags)


def _flagged(piece: Piece, flag: str) -> Piece:
    return replace(piece, rare=replace(piece.rare, flags=(*piece.rare.flags, flag)))


def _lasting(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: field for name, field in value.items() if name not in VOLATILE}


def _digest(value: Mapping[str, Any], kind: EntryKind, pieces: tuple[Piece, ...]) -> bytes:
    if kind in ("user", "assistant"):
        if len(pieces) == 1:
            return pieces[0].digest
        content = b"".join(piece.digest for piece in pieces)
    else:
        content = clean_text(compact_json(_lasting(value))).encode()
    return hashlib.sha256(content).digest()[:DIGEST_BYTES]


def _extra(value: dict[str, Any], kind: EntryKind, content: Content) -> Extra:
    subtype = word(value.get("subtype")) if kind == "system" else None
    attachment = word(_mapping(value.get("attachment")).get("type")) if kind == "attachment" else None
    extra = Extra(
        label=subtype or attachment,
        flags=(*content.flags, *_odd_fields(value)),
        logical=word(value.get("logicalParentUuid")),
        boundary=_boundary(value) if subtype == "compact_boundary" else None,
        micro=_micro(value) if subtype == "microcompact_boundary" else None,
        forked_from=word(_mapping(value.get("forkedFrom")).get("sessionId")),
        task_id=word(value.get("parent_tool_use_id")) or word(value.get("sourceToolUseID")),
        replacements=tuple(_replacements(value)) if kind == "content-replacement" else (),
    )
    return NOTHING if extra == NOTHING else extra


def _odd_fields(value: Mapping[str, Any]) -> tuple[str, ...]:
    flags = []
    if value.get("timestamp") is not None and time_ms(value["timestamp"]) is None:
        flags.append("odd_time")
    if value.get("parentUuid") is not None and word(value["parentUuid"]) is None:
        flags.append("odd_parent")
    return tuple(flags)


def _trigger(value: Any) -> Trigger:
    return cast(Trigger, value) if value in ("auto", "manual") else "unknown"


def _size(value: Any) -> int | None:
    """A recorded size; 0 means that none was recorded."""
    return count(value) or None


def _boundary(value: Mapping[str, Any]) -> Boundary:
    told = _mapping(_either(value, "compactMetadata", "compact_metadata"))
    kept = _mapping(_either(told, "preservedMessages", "preserved_messages"))
    segment = _mapping(_either(told, "preservedSegment", "preserved_segment"))
    head, tail = (word(_either(segment, f"{end}Uuid", f"{end}_uuid")) for end in ("head", "tail"))
    uuids = _words(kept.get("uuids"))
    return Boundary(
        trigger=_trigger(told.get("trigger")),
        tokens_before=_size(_either(told, "preTokens", "pre_tokens")),
        tokens_after=_size(_either(told, "postTokens", "post_tokens")),
        kept=uuids,
        segment=(head, tail) if head and tail and not uuids else None,
        anchor=word(_either(kept or segment, "anchorUuid", "anchor_uuid")),
    )


def _micro(value: Mapping[str, Any]) -> MicroBoundary:
    told = _mapping(_either(value, "microcompactMetadata", "microcompact_metadata"))
    return MicroBoundary(
        trigger=_trigger(told.get("trigger")),
        tokens_before=_size(_either(told, "preTokens", "pre_tokens")),
        saved=_size(_either(told, "tokensSaved", "tokens_saved")),
        tool_ids=_words(_either(told, "compactedToolIds", "compacted_tool_ids")),
        attachments=_words(_either(told, "clearedAttachmentUUIDs", "cleared_attachment_uuids")),
    )


def _replacements(value: Mapping[str, Any]) -> Iterator[Replacement]:
    elements = value.get("replacements")
    for element in elements if isinstance(elements, list) else ():
        texts = sorted(_texts(element), key=len)
        if len(texts) > 1:
            words = tuple(found for text in texts if len(text) <= MAX_WORD_CHARS and (found := word(text)))
            yield Replacement(words=words, body=body_of(texts[-1]))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
