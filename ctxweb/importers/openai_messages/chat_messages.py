"""Messages of the Chat Completions API as drafts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from compaction.checkpoints import is_checkpoint, result_state
from ctxweb.importers.anthropic_content import Drawn
from ctxweb.importers.lane_log import Draft, draw
from ctxweb.importers.responses_items import ORIGINS, ROLES, content_pieces, path_in, result_text, text_of
from ctxweb.importers.values import compact_json, plain_text, time_ms, word

REASONING_FIELDS = ("reasoning_content", "reasoning")
TOOL_ROLES = frozenset({"tool", "function"})
TIME_FIELDS = ("timestamp", "created_at", "created")


def chat_drafts(message: Mapping[str, Any]) -> tuple[Draft, ...]:
    """The message, with the reasoning that some servers add to an answer as one of its own before it."""
    if word(message.get("role")) in TOOL_ROLES:
        return (_tool_draft(message),)
    given = str(message.get("role"))
    role = ROLES.get(given, "user")
    pieces = (*_content(message), *_tool_uses(message))
    texts = [text_of(piece) for piece in pieces if piece[0].kind == "text"]
    origin = "summary" if texts and is_checkpoint(texts[0]) else ORIGINS[role]
    draft = Draft(
        role=role,
        origin=origin,
        pieces=pieces,
        native_id=word(message.get("id")),
        at=next((time_ms(message[name]) for name in TIME_FIELDS if name in message), None),
        flags=() if given in ROLES else ("odd_role",),
    )
    thinking = _thinking(message)
    return (draft,) if thinking is None else (replace(draft, pieces=(thinking,), records=0), draft)


def _content(message: Mapping[str, Any]) -> tuple[Drawn, ...]:
    """An answer of tool calls only has no text, whether its content is null, empty or absent."""
    content = message.get("content")
    if content is None and isinstance(message.get("refusal"), str):
        content = message["refusal"]
    if content in (None, "", []) and (message.get("tool_calls") or message.get("function_call") or _thinking(message)):
        return ()
    return content_pieces(content)


def _thinking(message: Mapping[str, Any]) -> Drawn | None:
    text = next((message[name] for name in REASONING_FIELDS if isinstance(message.get(name), str) and message[name]), None)
    return None if text is None else draw("thinking", text)


def _tool_uses(message: Mapping[str, Any]) -> Iterator[Drawn]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            yield _tool_use(word(call.get("id")), call.get("function", call.get("custom")))
    if isinstance(message.get("function_call"), Mapping):
        yield _tool_use(None, message["function_call"])


def _tool_use(tool_id: str | None, function: Any) -> Drawn:
    given = function if isinstance(function, Mapping) else {}
    arguments = given.get("arguments", given.get("input"))
    text = arguments if isinstance(arguments, str) else compact_json(arguments)
    return draw("tool_use", text, tool_id=tool_id, tool_name=word(given.get("name")), path=path_in(text))


def _tool_draft(message: Mapping[str, Any]) -> Draft:
    content = message.get("content")
    text, flags = result_text(content) if isinstance(content, list) else (plain_text(content).text, plain_text(content).flags)
    piece = draw(
        "tool_result",
        text,
        tool_id=word(message.get("tool_call_id")),
        tool_name=word(message.get("name")),
        state=result_state(text),
        flags=flags,
    )
    return Draft(role="tool", origin="tool", pieces=(piece,), native_id=word(message.get("id")))
