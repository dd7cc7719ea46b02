"""What a model's server says in tests: whole answers and their events, in both protocols."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from typing import Any

from compaction.summary_prompt import SUMMARY_SECTIONS

STOPS = {"cut_at_limit": ("max_tokens", "length"), "tool_call": ("tool_use", "tool_calls"), "refuses": ("refusal", "content_filter")}
USAGE = {"prompt": 1_000, "cached": 200, "output": 300}


def summary_of(body: dict[str, Any]) -> str:
    """Eight sections with words of the request's own record, always the same for the same request."""
    words = [" ".join(re.findall(r"[A-Za-z][a-z]{2,14}", text)[:14]) for text in _texts(body)]
    told = [line for line in words if len(line) > 20][-6:] or ["the record holds little that can be told in words"]
    lines = []
    for number, section in enumerate(SUMMARY_SECTIONS):
        lines += [f"## {section.heading}", f"- {told[number % len(told)]}", ""]
    return "\n".join(lines)


def _texts(body: dict[str, Any]) -> Iterator[str]:
    for message in body["messages"]:
        content = message.get("content")
        for text in [content] if isinstance(content, str) else [part.get("text", "") for part in content or ()]:
            for line in text.split("\n"):
                with contextlib.suppress(ValueError, TypeError, AttributeError):
                    entry = json.loads(line)
                    if entry.get("kind") == "text":
                        yield entry["text"]


def _said(name: str, body: dict[str, Any], answer: str) -> str:
    if name in ("empty", "reasoning_only"):
        return ""
    if name == "longer_than_range":
        return summary_of(body) + "\n".join(f"- line {number} of a summary without end, word{number * 7919}" for number in range(9_000))
    return answer or summary_of(body)


def whole_answer(name: str, body: dict[str, Any], answer: str, *, is_anthropic: bool) -> dict[str, Any]:
    text, stops = _said(name, body, answer), STOPS.get(name, ("end_turn", "stop"))
    if is_anthropic:
        content: list[dict[str, Any]] = [{"type": "text", "text": text}]
        if name == "reasoning_only":
            content = [{"type": "thinking", "thinking": "let me think", "signature": "s"}]
        if name == "tool_call":
            content = [{"type": "tool_use", "id": "t1", "name": "run", "input": {}}]
        content = [] if name == "empty" else content
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
            "stop_reason": stops[0], "stop_sequence": None, "usage": _anthropic_usage(name),
        }  # fmt: skip
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if name == "reasoning_only":
        message["reasoning_content"] = "let me think"
    if name == "tool_call":
        message = {"role": "assistant", "content": None, "tool_calls": [_tool_call()]}
    choice = {"index": 0, "message": message, "finish_reason": stops[1]}
    return {"id": "c1", "object": "chat.completion", "model": body["model"], "choices": [choice], "usage": _openai_usage(name)}


def answer_events(name: str, body: dict[str, Any], answer: str, *, is_anthropic: bool) -> list[bytes]:
    whole = whole_answer(name, body, answer, is_anthropic=is_anthropic)
    made = list(_anthropic_events(name, whole) if is_anthropic else _openai_events(whole))
    if name == "error_in_stream":
        kind = {"type": "overloaded_error", "message": "words"}
        made = [*made[: len(made) // 2], _event({"type": "error", "error": kind}, is_anthropic)]
    return made


def _anthropic_events(name: str, whole: dict[str, Any]) -> Iterator[bytes]:
    usage = whole["usage"]
    yield _event(
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}}
    )
    for index, block in enumerate(whole["content"]):
        key = next((key for key in ("text", "thinking") if key in block), "")
        yield _event({"type": "content_block_start", "index": index, "content_block": {**block, **({key: ""} if key else {})}})
        for piece in _pieces(block.get(key, "")):
            yield _event({"type": "content_block_delta", "index": index, "delta": {"type": f"{key}_delta", key: piece}})
        yield _event({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": usage["output_tokens"]}})
    yield _event({"type": "message_stop"})


def _openai_events(whole: dict[str, Any]) -> Iterator[bytes]:
    choice = whole["choices"][0]
    message = choice["message"]

    def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> bytes:
        choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
        return _event({"id": "c1", "object": "chat.completion.chunk", "model": whole["model"], "choices": choices, **more}, False)

    yield chunk({"role": "assistant", "content": ""})
    for key in ("content", "reasoning_content"):
        for piece in _pieces(message.get(key) or ""):
            yield chunk({key: piece})
    if message.get("tool_calls"):
        yield chunk({"tool_calls": message["tool_calls"]})
    yield chunk({}, choice["finish_reason"])
    yield _event({"id": "c1", "object": "chat.completion.chunk", "choices": [], "usage": whole["usage"]}, False)
    yield b"data: [DONE]\n\n"


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), 400):
        yield text[start : start + 400]


def _event(value: dict[str, Any], is_anthropic: bool = True) -> bytes:
    name = f"event: {value['type']}\n" if is_anthropic else ""
    return f"{name}data: {json.dumps(value)}\n\n".encode()


def _tool_call() -> dict[str, Any]:
    return {"index": 0, "id": "t1", "type": "function", "function": {"name": "run", "arguments": "{}"}}


def _anthropic_usage(name: str) -> dict[str, Any]:
    if name == "lies_about_usage":
        return {"input_tokens": -5, "output_tokens": 10**12, "cache_read_input_tokens": "many"}
    fresh = USAGE["prompt"] - USAGE["cached"]
    return {
        "input_tokens": fresh,
        "cache_read_input_tokens": USAGE["cached"],
        "cache_creation_input_tokens": 0,
        "output_tokens": USAGE["output"],
    }


def _openai_usage(name: str) -> dict[str, Any]:
    if name == "lies_about_usage":
        return {"prompt_tokens": -5, "completion_tokens": 10**12, "prompt_tokens_details": {"cached_tokens": "many"}}
    return {
        "prompt_tokens": USAGE["prompt"], "completion_tokens": USAGE["output"], "prompt_tokens_details": {"cached_tokens": USAGE["cached"]},
    }  # fmt: skip
