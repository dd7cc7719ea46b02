"""Messages of the Messages API as drafts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from compaction.checkpoints import is_checkpoint, result_state
from compaction.messages import Origin, Role
from ctxweb.importers.anthropic_content import Drawn, read_block, read_content
from ctxweb.importers.chat import FAILED_COMPACTION
from ctxweb.importers.lane_log import Draft
from ctxweb.importers.values import word

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


def is_message(value: Any) -> bool:
    """Whether a value is one entry of a message list."""
    return isinstance(value, dict) and word(value.get("role")) in ROLES and isinstance(value.get("content"), str | list)


def message_drafts(message: Mapping[str, Any]) -> tuple[Draft, ...]:
    """The message; a compaction block in it stands for everything before it, so it is a message of its own.

    A compaction block without content tells of a compaction that failed: it stands for nothing and is flagged.
    """
    role = ROLES[message["role"]]
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    summaries = [block for block in blocks if is_compaction(block)]
    if not summaries:
        return (_draft(role, _pieces(content), message),)
    rest = _pieces([block for block in blocks if not is_compaction(block)])
    told = [read_block(block) for block in summaries if block.get("content")]
    flags = (FAILED_COMPACTION,) if len(told) < len(summaries) else ()
    drafts = [Draft(role="assistant", origin="summary", pieces=(piece,), records=0) for piece in told[-1:]]
    if rest or flags:
        drafts.append(replace(_draft(role, rest, message), flags=flags))
    else:
        drafts[-1] = replace(drafts[-1], records=1)
    return tuple(drafts)


def is_compaction(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "compaction"


def _draft(role: Role, pieces: tuple[Drawn, ...], message: Mapping[str, Any]) -> Draft:
    return Draft(role=role, origin=_origin(role, pieces), pieces=pieces, native_id=word(message.get("id")))


def _origin(role: Role, pieces: tuple[Drawn, ...]) -> Origin:
    if role == "assistant":
        return "model"
    texts = [body.text or "" for piece, body in pieces if piece.kind == "text"]
    if texts and is_checkpoint(texts[0]):
        return "summary"
    if role == "system":
        return "harness"
    return "tool" if pieces and all(piece.kind == "tool_result" for piece, _ in pieces) else "human"


def _pieces(content: Any) -> tuple[Drawn, ...]:
    blocks = list(map(_named, content)) if isinstance(content, list) else content
    read = read_content(blocks)
    return tuple(_marked(piece) for piece in zip(read.pieces, read.bodies, strict=True))


def _named(block: Any) -> Any:
    """Results of the provider's own tools (`web_search_tool_result` and so on) are tool results."""
    kind = block.get("type") if isinstance(block, dict) else None
    return {**block, "type": "tool_result"} if isinstance(kind, str) and kind.endswith("_tool_result") else block


def _marked(drawn: Drawn) -> Drawn:
    """A tool result in the state that a mark in its text shows."""
    piece, body = drawn
    state = result_state(body.text or "") if piece.kind == "tool_result" and piece.rare.state == "whole" else "whole"
    return drawn if state == "whole" else (replace(piece, rare=replace(piece.rare, state=state)), body)


def list_drafts(entries: list[Any]) -> Iterator[Draft]:
    """Drafts of a list; the line of each is its place in it."""
    for line, entry in enumerate(entries, start=1):
        if is_message(entry):
            for draft in message_drafts(entry):
                yield replace(draft, line=line)
