"""The messages of a dsh log as drafts: who they are from, and their blocks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from compaction.checkpoints import recognise
from compaction.dsh.events import ASSISTANT, COMPACT_PLUGIN, RESULT, JsonObject, content_of, data_of, message_of, source_of, type_of
from compaction.messages import Origin
from ctxweb.importers.anthropic_content import PATH_FIELDS, Drawn
from ctxweb.importers.lane_log import Draft, draw
from ctxweb.importers.values import compact_json, count, media, plain_text, time_ms, word

ORIGINS: dict[str, Origin] = {"user": "human", "model": "model", "tool": "tool"}
"""Who a message is from by the kind of its source; every other kind is the harness or a part of it."""


def draft_of(event: JsonObject) -> Draft:
    """A surface event as a draft; `label` names what made it where that was neither person, model nor tool."""
    message, kind = message_of(event), type_of(event)
    source = source_of(message)
    told = word(source.get("kind")) or {ASSISTANT: "model", RESULT: "tool"}.get(kind, "")
    origin: Origin = "summary" if is_checkpoint(message) else ORIGINS.get(told, "harness" if told else "unknown")
    return Draft(
        role="assistant" if kind == ASSISTANT else "user",
        origin=origin,
        pieces=tuple(read_block(block) for block in content_of(message)),
        native_id=word(message.get("id")),
        model=word(source.get("model")) if kind == ASSISTANT else None,
        label=None if told in ORIGINS else word(source.get("plugin")) or word(told),
        at=time_ms(event.get("time")),
        flags=("interrupted",) if kind == ASSISTANT and data_of(event).get("interrupted") is True else (),
    )


def is_checkpoint(message: JsonObject) -> bool:
    """Whether a message is a summary of the compactor."""
    source = source_of(message)
    return source.get("plugin") == COMPACT_PLUGIN and isinstance(source.get("compactionId"), str)


def read_block(block: Any) -> Drawn:
    """One block of a message as a piece with its text; one of an unknown type is `opaque`."""
    if not isinstance(block, Mapping):
        plain = plain_text(block)
        return draw("text", plain.text, flags=plain.flags)
    match block.get("type"):
        case "text":
            plain = plain_text(block.get("text"))
            return draw("text", plain.text, flags=plain.flags)
        case "reasoning":
            plain = plain_text(block.get("text"))
            return draw("thinking", plain.text, flags=plain.flags)
        case "tool-call":
            return _call(block)
        case "tool-result":
            return _result(block)
        case "image":
            return _image(block)
    return draw("opaque", compact_json(block), flags=(f"type:{str(block.get('type'))[:40]}",))


def result_text(block: JsonObject) -> str:
    """What the model sees of a tool's answer: its texts, and labels where other blocks stand."""
    return "\n".join(_inner_text(inner) for inner in content_of(block))


def _inner_text(inner: Any) -> str:
    if isinstance(inner, Mapping) and inner.get("type") == "text":
        return plain_text(inner.get("text")).text
    if isinstance(inner, Mapping) and inner.get("type") == "image":
        return _media(inner)[0]
    return plain_text(inner).text


def _call(block: JsonObject) -> Drawn:
    plain = plain_text(block.get("arguments"))
    return draw(
        "tool_use",
        plain.text,
        tool_id=word(block.get("id")),
        tool_name=word(block.get("name")),
        path=_path_in(plain.text),
        flags=plain.flags,
    )


def _path_in(arguments: str) -> str | None:
    """The file that a call names; None where its arguments are no object, or name none."""
    if not any(name in arguments for name in PATH_FIELDS):
        return None
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return next((found for name in PATH_FIELDS if (found := word(given.get(name)))), None) if isinstance(given, dict) else None


def _result(block: JsonObject) -> Drawn:
    text = result_text(block)
    images = [inner for inner in content_of(block) if isinstance(inner, Mapping) and inner.get("type") == "image"]
    found = recognise(text, "result")
    pointer = word(found.figures.get("path")) if found is not None and found.mark.kind == "spilled" else None
    return draw(
        "tool_result",
        text,
        tool_id=word(block.get("toolCallId")),
        state="spilled" if pointer else "whole",
        pointer=pointer,
        is_error=block.get("isError") is True,
        media_bytes=sum(_media(image)[2] or 0 for image in images) if images else None,
        media_type=_media(images[0])[1] if images else None,
        flags=(f"images:{len(images)}",) if images else (),
    )


def _image(block: JsonObject) -> Drawn:
    label, media_type, size = _media(block)
    return draw("image", label, media_type=media_type, media_bytes=size)


def _media(block: JsonObject) -> tuple[str, str | None, int | None]:
    """Label, type and size of an image: the log names it by the digest of its bytes, which lie elsewhere."""
    attachment = block.get("attachment")
    told: JsonObject = attachment if isinstance(attachment, Mapping) else {}
    found = media("image", told.get("mediaType"), place=word(told.get("attachmentId")) or word(told.get("name")))
    return found.label, found.media_type, count(told.get("bytes"))
