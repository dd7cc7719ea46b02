"""Requests and responses of the Messages API, alone, in pairs or inside the records of a log, as exchanges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ctxweb.importers.anthropic_messages.applied import DEFAULT_RULES, AppliedEdit, ClearingRules, applied_edits
from ctxweb.importers.anthropic_messages.messages import is_message, list_drafts, message_drafts
from ctxweb.importers.chat import NOT_REPORTED, Exchange
from ctxweb.importers.claude_code.usage import UsageReading, read_usage
from ctxweb.importers.lane_log import Draft, draw
from ctxweb.importers.values import compact_json, time_ms, word

JsonObject = Mapping[str, Any]

REQUESTS = ("request", "request_body", "body", "params")
RESPONSES = ("response", "response_body", "message", "result")
SESSION_IDS = ("session_id", "conversation_id", "thread_id")
TIMES = ("timestamp", "created_at", "time")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicExchange(Exchange):
    """`applied` is what the server took from the prompt before the model saw it, `rules` what the request asked for."""

    applied: tuple[AppliedEdit, ...] = ()
    rules: ClearingRules = DEFAULT_RULES


def exchange_of(value: Any) -> AnthropicExchange | None:
    """The exchange that a record tells of, None if it tells of none."""
    if not isinstance(value, dict):
        return None
    request, response = request_of(value), _response(value)
    if request is None and response is None:
        return None
    asked, answered = request or {}, response or {}
    reading = read_usage(answered["usage"]) if isinstance(answered.get("usage"), Mapping) else UsageReading(usage=NOT_REPORTED)
    return AnthropicExchange(
        prompt=None if request is None else (*_fixed(asked), *list_drafts(asked["messages"])),
        answer=None if response is None else message_drafts({"role": "assistant", **answered}),
        usage=reading.usage,
        native_id=word(answered.get("id")),
        session_id=next((found for name in SESSION_IDS if (found := word(value.get(name)))), None),
        model=word(answered.get("model")) or word(asked.get("model")),
        at=_time(value),
        flags=reading.flags,
        applied=applied_edits(answered),
        rules=ClearingRules.of(asked),
    )


def is_response(value: Any) -> bool:
    """Whether a value is an answer of the API, and not an entry of a list."""
    is_answer = isinstance(value, dict) and value.get("role") == "assistant" and isinstance(value.get("content"), list)
    return is_answer and (value.get("type") == "message" or "stop_reason" in value or isinstance(value.get("usage"), dict))


def request_of(value: JsonObject) -> JsonObject | None:
    """The body of the request that a record holds, None where it holds none."""
    candidates = (value, *(value[name] for name in REQUESTS if isinstance(value.get(name), Mapping)))
    return next((one for one in candidates if isinstance(one.get("messages"), list)), None)


def _response(value: JsonObject) -> JsonObject | None:
    if is_response(value):
        return value
    for name in RESPONSES:
        given = value.get(name)
        inner = given.get("body", given.get("message", given)) if isinstance(given, Mapping) else None
        if is_response(inner):
            return inner
    return None


def _time(value: JsonObject) -> int | None:
    return next((found for name in TIMES if (found := time_ms(value.get(name))) is not None), None)


def _fixed(request: JsonObject) -> Iterator[Draft]:
    """What stands in front of every prompt: the system prompt and the tool definitions."""
    system, tools = request.get("system"), request.get("tools")
    blocks = system if isinstance(system, list) else [system]
    texts = (block.get("text") if isinstance(block, Mapping) else block for block in blocks)
    pieces = tuple(draw("text", text) for text in texts if isinstance(text, str) and text)
    if pieces:
        yield Draft(role="system", origin="harness", pieces=pieces, label="system", records=0)
    if isinstance(tools, list) and tools:
        yield Draft(role="system", origin="harness", pieces=(draw("text", compact_json(tools)),), label="tools", records=0)


def message_exchange(value: Any) -> AnthropicExchange | None:
    """One entry of a list as what it adds to the conversation."""
    return AnthropicExchange(prompt=message_drafts(value), continues="") if is_message(value) else None
