"""Requests and responses of the OpenAI APIs, alone, in pairs or inside the records of a log, as exchanges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxweb.importers.chat import Exchange
from ctxweb.importers.lane_log import Draft, draw
from ctxweb.importers.openai_messages.chat_messages import chat_drafts
from ctxweb.importers.openai_messages.usage import read_usage
from ctxweb.importers.responses_items import is_known_type, item_type, read_item
from ctxweb.importers.values import compact_json, count, time_ms, word

JsonObject = Mapping[str, Any]

COMPACTION_OBJECT = "response.compaction"
REQUESTS = ("request", "body", "request_body")
RESPONSES = ("response", "response_body", "completion")
SESSION_IDS = ("session_id", "conversation_id", "thread_id")
TIMES = ("timestamp", "created_at", "created", "time")
CHAT_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def is_message(value: Any) -> bool:
    """Whether a value is one message of a chat list or one item of a Responses list."""
    if not isinstance(value, dict):
        return False
    if word(value.get("role")) in CHAT_ROLES:
        return any(name in value for name in ("content", "tool_calls", "function_call"))
    kind = item_type(value)
    return "role" not in value and kind not in ("message", "agent_message") and is_known_type(kind)


def message_drafts(value: JsonObject) -> tuple[Draft, ...]:
    """Drafts of one entry of a list."""
    if word(value.get("role")) in CHAT_ROLES:
        return chat_drafts(value)
    item = read_item(value)
    return () if item is None else (item.draft,)


def exchange_of(value: Any) -> Exchange | None:
    """The exchange that a record tells of, None if it tells of none."""
    if not isinstance(value, dict):
        return None
    request, response = _request(value), _response(value)
    if request is None and response is None:
        return None
    asked = request or {}
    usage, flags = read_usage((response or {}).get("usage") or value.get("usage"))
    continues = word((response or asked).get("previous_response_id"))
    return Exchange(
        prompt=_prompt({**(response or {}), **asked}) if request is not None or _has_input(response) else None,
        answer=None if response is None else tuple(_answer(response)),
        usage=usage,
        native_id=word((response or {}).get("id")),
        continues=continues,
        session_id=next((found for name in SESSION_IDS if (found := word(value.get(name)))), None),
        model=word((response or {}).get("model")) or word(asked.get("model")) or word(value.get("model")),
        at=_time(response or {}) or _time(value) or _time(asked),
        context_window=count(value.get("context_window")),
        compacted=(response or {}).get("object") == COMPACTION_OBJECT,
        flags=flags,
    )


def _request(value: JsonObject) -> JsonObject | None:
    """The object that holds the list which was sent: the record itself, or one of its parts."""
    parts = (value[name] for name in REQUESTS if isinstance(value.get(name), Mapping))
    candidates = (*((value,) if "model" in value or "messages" in value else ()), *parts)
    return next((one for one in candidates if isinstance(one.get("messages"), list) or (_has_input(one) and not _is_response(one))), None)


def _response(value: JsonObject) -> JsonObject | None:
    """The object that holds the answer; a text alone is an answer too."""
    if _is_response(value):
        return value
    for name in RESPONSES:
        given = value.get(name)
        if isinstance(given, str) and _request(value) is not None:
            return {"choices": [{"message": {"role": "assistant", "content": given}}]}
        inner = given.get("body") if isinstance(given, Mapping) and isinstance(given.get("body"), Mapping) else given
        if isinstance(inner, Mapping) and _is_response(inner):
            return inner
    return None


def _is_response(value: JsonObject) -> bool:
    choices = value.get("choices")
    if isinstance(choices, list):
        return any(isinstance(choice, Mapping) and isinstance(choice.get("message"), Mapping) for choice in choices)
    return isinstance(value.get("output"), list) and str(value.get("object", "")).startswith("response")


def _has_input(value: JsonObject | None) -> bool:
    given = (value or {}).get("input")
    return isinstance(given, str) or (isinstance(given, list) and bool(given) and all(map(is_message, given)))


def _prompt(request: JsonObject) -> tuple[Draft, ...]:
    """The list as it was sent, behind the instructions and tool definitions that stand in front of it."""
    given = request.get("messages", request.get("input"))
    entries = [{"role": "user", "content": given}] if isinstance(given, str) else given
    return (*_fixed(request), *list_drafts(entries if isinstance(entries, list) else []))


def list_drafts(entries: list[Any]) -> Iterator[Draft]:
    """Drafts of a list; the line of each is its place in it."""
    for line, entry in enumerate(entries, start=1):
        if is_message(entry):
            for draft in message_drafts(entry):
                yield replace(draft, line=line)


def _fixed(request: JsonObject) -> Iterator[Draft]:
    instructions, tools = request.get("instructions"), request.get("tools") or request.get("functions")
    if isinstance(instructions, str) and instructions:
        yield Draft(role="system", origin="harness", pieces=(draw("text", instructions),), label="instructions", records=0)
    if isinstance(tools, list) and tools:
        yield Draft(role="system", origin="harness", pieces=(draw("text", compact_json(tools)),), label="tools", records=0)


def _answer(response: JsonObject) -> Iterator[Draft]:
    """Drafts of the answer; of several choices the first is the one that the conversation goes on with."""
    choices = response.get("choices")
    if isinstance(choices, list):
        messages = (choice.get("message") for choice in choices if isinstance(choice, Mapping))
        message = next(message for message in messages if isinstance(message, Mapping))
        yield from chat_drafts({"role": "assistant", **message})
        return
    for entry in response.get("output", ()):
        if is_message(entry):
            yield from message_drafts(entry)


def _time(value: JsonObject) -> int | None:
    return next((found for name in TIMES if (found := time_ms(value.get(name))) is not None), None)
