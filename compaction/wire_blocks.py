"""Single blocks of wire messages: the canonical form of ours, and a caller's own with another text."""

from __future__ import annotations

from collections.abc import Mapping

from compaction.counters.sizes import json_object
from compaction.messages import Block, BlockState

Raw = Mapping[str, object]

NO_RAW = object()
"""Stands for the caller's own block where there is none; None may well be a block."""


def wire_block(block: Block, text: str) -> dict[str, object]:
    """The block with this text as a provider would get it. Media and opaque blocks stand as their label: bytes are not kept."""
    if block.kind == "tool_use":
        given = json_object(text)
        return {"type": "tool_use", "id": block.tool_id or "", "name": block.tool_name or "", "input": text if given is None else given}
    if block.kind == "tool_result":
        error = {"is_error": True} if block.is_error else {}
        return {"type": "tool_result", "tool_use_id": block.tool_id or "", "content": text, **error}
    if block.kind == "thinking":
        return {"type": "thinking", "thinking": text}
    if block.kind == "compaction":
        return {"type": "compaction", "content": text}
    return {"type": block.kind, "text": text}


def raw_block_of(raw: Raw, block: Block) -> object:
    """The caller's own block in its message; NO_RAW where the content is no list."""
    content = raw.get("content")
    return content[block.id.i - 1] if isinstance(content, list) and block.id.i <= len(content) else NO_RAW


def with_text(raw: object, block: Block, text: str, state: BlockState) -> object:
    """The caller's own block with another text. A result that was only cut keeps its images; any other gives up all."""
    if not isinstance(raw, Mapping):
        return NO_RAW if raw is NO_RAW else wire_block(block, text)
    if block.kind == "tool_result":
        others = other_parts(raw.get("content")) if state == "truncated" else []
        return {**raw, "content": [{"type": "text", "text": text}, *others] if others else text}
    if block.kind == "tool_use":
        given = json_object(text)
        return {**raw, "input": text if given is None else given}
    return {**raw, "thinking" if block.kind == "thinking" else "text": text}


def other_parts(content: object) -> list[object]:
    """What a result holds beside texts."""
    if not isinstance(content, list):
        return []
    return [part for part in content if not (isinstance(part, str) or (isinstance(part, Mapping) and isinstance(part.get("text"), str)))]
