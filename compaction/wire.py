"""Wire messages: a role, and as content a text, a list of blocks, or nothing.

Reading keeps each message beside what was understood of it; writing gives untouched messages and blocks back as the very
objects that were read. Odd blocks, extra keys and empty lists survive, and are priced as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from compaction.checkpoints import is_checkpoint, result_state
from compaction.counters.sizes import json_text
from compaction.counters.units import NO_CONTENT, Shape
from compaction.messages import Block, BlockId, BlockState, Body, Origin, Role
from compaction.pricing import Pricer
from compaction.prompt import ViewMessage, VisibleBlock, own_raw, view_message, visible_block
from compaction.view import PromptView
from compaction.wire_blocks import Raw, other_parts, wire_block, with_text

ROLES: tuple[Role, ...] = get_args(Role)
ODD_ROLE: Role = "system"  # of a message whose role is none that we know: tools have no place in it
ORIGINS: dict[Role, Origin] = {"user": "human", "assistant": "model", "tool": "tool", "system": "harness", "developer": "harness"}
MEDIA = ("image", "document")
SURROGATE = re.compile("[\ud800-\udfff]")


def read_wire(messages: Sequence[Raw], pricer: Pricer) -> PromptView:
    """The view of these messages; their seqs are 1, 2, … Marks of compaction in results become their states."""
    return PromptView.holding([_message(seq, raw, pricer) for seq, raw in enumerate(messages, start=1)], pricer)


def write_wire(view: PromptView) -> list[Raw]:
    """The messages of a view. What was not read from wire messages is written in the canonical form of `wire_block`."""
    return [_written(message, view.pricer) for message in view.messages]


def _message(seq: int, raw: Raw, pricer: Pricer) -> ViewMessage:
    role = next((known for known in ROLES if known == raw.get("role")), ODD_ROLE)
    content = raw.get("content")
    shape: Shape = "text" if isinstance(content, str) else "blocks" if isinstance(content, list) else "absent"
    if isinstance(content, str):
        body = _body(content)
        blocks = [visible_block(Block(id=BlockId(seq, 1), kind="text", body=body), pricer, shape)]
    elif isinstance(content, list) and content:
        blocks = [_visible(BlockId(seq, i), part, pricer) for i, part in enumerate(content, start=1)]
    else:
        nothing = Block(id=BlockId(seq, 1), kind="text", body=Body.of(""), flags=(NO_CONTENT,))
        blocks = [visible_block(nothing, pricer, shape)]
    return view_message(role, _origin(role, blocks[0], pricer), shape, blocks, pricer, raw=raw)


def _origin(role: Role, first: VisibleBlock, pricer: Pricer) -> Origin:
    """Who wrote a message, by its first block: a tool, a compaction whose mark it bears, or whoever has the role."""
    if first.block.kind == "tool_result":
        return "tool"
    if first.block.kind == "compaction" or (role == "user" and first.block.kind == "text" and is_checkpoint(pricer.text(first.body))):
        return "summary"
    return ORIGINS[role]


def _visible(place: BlockId, raw: object, pricer: Pricer) -> VisibleBlock:
    block = _block(place, raw)
    return visible_block(block, pricer, "blocks", raw=raw)


def _block(place: BlockId, raw: object) -> Block:
    if not isinstance(raw, Mapping):
        return Block(id=place, kind="opaque", body=_body(str(raw)))
    kind = raw.get("type")
    if kind == "tool_use":
        return _tool_use(place, raw)
    if kind == "tool_result":
        return _tool_result(place, raw)
    if kind == "text" and isinstance(raw.get("text"), str):
        return Block(id=place, kind="text", body=_body(str(raw["text"])))
    if kind == "thinking" and isinstance(raw.get("thinking"), str):
        return Block(id=place, kind="thinking", body=_body(str(raw["thinking"])))
    if kind == "compaction" and isinstance(raw.get("content"), str):
        return Block(id=place, kind="compaction", body=_body(str(raw["content"])))
    if kind in MEDIA:
        return Block(id=place, kind="image" if kind == "image" else "document", body=_body(str(kind)))
    return Block(id=place, kind="opaque", body=_body(json_text(raw)))


def _tool_use(place: BlockId, raw: Raw) -> Block:
    given = raw.get("input")
    path = given.get("path", given.get("file_path")) if isinstance(given, Mapping) else None
    return Block(
        id=place,
        kind="tool_use",
        body=_body(given if isinstance(given, str) else json_text(given)),
        tool_id=_word(raw.get("id")),
        tool_name=_word(raw.get("name")),
        path=_word(path),
    )


def _tool_result(place: BlockId, raw: Raw) -> Block:
    text = _clean("".join(_texts(raw.get("content"))))
    return Block(
        id=place,
        kind="tool_result",
        body=Body.of(text),
        state=_state(text),
        tool_id=_word(raw.get("tool_use_id")),
        path=_word(raw.get("_read_path")),
        is_error=raw.get("is_error") is True,
        flags=_flags(other_parts(raw.get("content"))),
    )


def _flags(others: Sequence[object]) -> tuple[str, ...]:
    """What a result holds beside texts, in the words of the importers."""
    images = sum(isinstance(part, Mapping) and part.get("type") == "image" for part in others)
    return (*((f"images:{images}",) if images else ()), *(("content_not_text",) if len(others) > images else ()))


def _texts(content: object) -> Iterator[str]:
    """The texts of a result, whose lengths add up to the length that limits compare."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            text = part.get("text") if isinstance(part, Mapping) else part
            if isinstance(text, str):
                yield text


def _state(text: str) -> BlockState:
    return result_state(text) if text else "whole"


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _body(text: str) -> Body:
    return Body.of(_clean(text))


def _clean(text: str) -> str:
    """The text with U+FFFD for each lone surrogate: it keeps its length."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return SURROGATE.sub("\ufffd", text)
    return text


def _written(message: ViewMessage, pricer: Pricer) -> Raw:
    if message.raw is None:
        return _synthesised(message, pricer)
    parts = [_part(message, one, pricer) for one in message.blocks]
    content = message.raw.get("content")
    if isinstance(content, list) and content:
        same = len(parts) == len(content) and all(part is given for part, given in zip(parts, content, strict=True))
        return message.raw if same else {**message.raw, "content": parts}
    if isinstance(content, str) and message.blocks[0].body is not message.blocks[0].block.body:
        return {**message.raw, "content": pricer.text(message.blocks[0].body)}
    return message.raw


def _part(message: ViewMessage, visible: VisibleBlock, pricer: Pricer) -> object:
    raw = own_raw(message, visible.block)
    if visible.body is visible.block.body:
        return raw
    return with_text(raw, visible.block, pricer.text(visible.body), visible.state)


def _synthesised(message: ViewMessage, pricer: Pricer) -> dict[str, object]:
    if message.shape == "absent":
        return {"role": message.role}
    if message.shape == "text":
        return {"role": message.role, "content": pricer.text(message.blocks[0].body)}
    return {"role": message.role, "content": [wire_block(one.block, pricer.text(one.body)) for one in message.blocks]}
