"""The Anthropic Messages API, by the official client library."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import anthropic

from ctxweb.llm.answers import Parts, answer_of, broken_off, failure_of_status, request_id, word
from ctxweb.llm.base import LlmAnswer, LlmFailure, LlmRequest, LlmUsage, credible_tokens, never, unheard
from ctxweb.llm.network import BOUNDS, Bounds, failure_of_network, http_client, run_bounded

CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
REFUSED = frozenset({"refusal"})
COUNT_SECONDS = 15.0
_BUCKETS = {
    "input_tokens": "input_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
    "output_tokens": "output_tokens",
}

_STREAM_STATUSES = {  # what an `error` event within a stream means; the stream itself began with 200
    "invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404,
    "request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "overloaded_error": 529,
}  # fmt: skip


class AnthropicClient:
    """One server. `bounds` are those of a call."""

    id = "anthropic"

    def __init__(self, *, base_url: str, api_key: str, is_streamed: bool = True, bounds: Bounds = BOUNDS) -> None:
        self._base_url, self._api_key, self._is_streamed, self._bounds = base_url, api_key, is_streamed, bounds
        self._host = urlsplit(base_url).netloc

    def ask(self, request: LlmRequest, *, is_cancelled: Callable[[], bool] = never, on_text: Callable[[int], None] = unheard) -> LlmAnswer:
        """See `LlmClient`."""
        try:
            return run_bounded(self._ask(request, on_text), bounds=self._bounds, is_cancelled=is_cancelled)
        except LlmFailure:
            raise
        except anthropic.APIStatusError as error:
            headers, kind = error.response.headers, _kind(error)
            raise failure_of_status(host=self._host, status=error.status_code, headers=headers, kind=kind) from None
        except Exception as error:
            raise failure_of_network(error, host=self._host, bounds=self._bounds) from None

    def count_tokens(self, request: LlmRequest) -> int | None:
        """See `LlmClient`: counting costs nothing, and what goes wrong there is told when the answer is asked for."""
        bounds = Bounds(connect=self._bounds.connect, read=COUNT_SECONDS, total=min(COUNT_SECONDS, self._bounds.total))
        try:
            return run_bounded(self._count(request, bounds), bounds=bounds, is_cancelled=never)
        except Exception:  # a failed count is an estimate, not a failed call
            return None

    def _client(self, bounds: Bounds) -> anthropic.AsyncAnthropic:
        client = anthropic.AsyncAnthropic(
            api_key=self._api_key,
            base_url=self._base_url,
            max_retries=0,
            http_client=http_client(bounds),
            open_telemetry={"traces": {"enabled": False}, "propagation": False},
        )
        client._custom_headers = {}  # ANTHROPIC_CUSTOM_HEADERS is read whatever is given, and may hold another server's key
        return client

    async def _ask(self, request: LlmRequest, on_text: Callable[[int], None]) -> LlmAnswer:
        parts = Parts(host=self._host, bounds=self._bounds, on_text=on_text)
        async with self._client(self._bounds) as client:
            asked = {**_prompt(request), "max_tokens": request.max_tokens}
            if not self._is_streamed:
                answer = await client.messages.with_raw_response.create(**asked)
                parts.request_id = request_id(answer.headers)
                _whole(parts, _json(await answer.text()))
            else:
                await self._stream(client, asked, parts)
        return answer_of(parts, cut=CUT, refused=REFUSED)

    async def _stream(self, client: anthropic.AsyncAnthropic, asked: dict[str, Any], parts: Parts) -> None:
        async with await client.messages.create(**asked, stream=True) as stream:
            parts.request_id = request_id(stream.response.headers)
            try:
                async for event in stream:
                    _event(parts, event.to_dict(warnings=False))
                    if parts.is_whole:
                        break
            except anthropic.APIStatusError as error:
                raise broken_off(parts, status=_STREAM_STATUSES.get(_kind(error), 500), kind=_kind(error)) from None

    async def _count(self, request: LlmRequest, bounds: Bounds) -> int | None:
        async with self._client(bounds) as client:
            counted = await client.messages.count_tokens(**_prompt(request))
            return credible_tokens(counted.input_tokens)


def _kind(error: anthropic.APIStatusError) -> str:
    """The provider's own word for an error."""
    body = error.body if isinstance(error.body, dict) else {}
    told = body.get("error", body)
    return word(told.get("type")) if isinstance(told, dict) else ""


def _prompt(request: LlmRequest) -> dict[str, Any]:
    system = request.system if isinstance(request.system, str) else list(request.system)
    more: dict[str, Any] = {"system": system} if system else {}
    if request.tools:
        more |= {"tools": list(request.tools), "tool_choice": {"type": "none"}}
    return {"model": request.model, "messages": list(request.messages), **more}


def _json(text: str) -> Mapping[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value


def _whole(parts: Parts, message: Mapping[str, Any]) -> None:
    """An answer that came at once."""
    _begin(parts, message)
    for block in message.get("content") or ():
        _block(parts, block)
        parts.text(block.get("text"))
    parts.stop, parts.is_whole = word(message.get("stop_reason")), bool(message.get("stop_reason"))
    if message.get("type") != "message":
        raise ValueError("no message")


def _event(parts: Parts, event: Mapping[str, Any]) -> None:
    kind = event.get("type")
    if kind == "message_start":
        _begin(parts, event.get("message") or {})
    elif kind == "content_block_start":
        _block(parts, event.get("content_block") or {})
        parts.text((event.get("content_block") or {}).get("text"))
    elif kind == "content_block_delta":
        delta = event.get("delta") or {}
        parts.text(delta.get("text"))
        parts.reasoning += "thinking" in delta
    elif kind == "message_delta":
        parts.stop = word((event.get("delta") or {}).get("stop_reason")) or parts.stop
        _used(parts, event.get("usage") or {})
    elif kind == "message_stop":
        parts.is_whole = True


def _begin(parts: Parts, message: Mapping[str, Any]) -> None:
    parts.model = word(message.get("model"))
    _used(parts, message.get("usage") or {})


def _block(parts: Parts, block: Mapping[str, Any]) -> None:
    kind = word(block.get("type"))
    parts.tool_calls += kind.endswith("tool_use")
    parts.reasoning += kind in ("thinking", "redacted_thinking")


def _used(parts: Parts, usage: Mapping[str, Any]) -> None:
    """Later figures of a call take the place of earlier ones; one that says nothing changes nothing."""
    figures = {name: getattr(parts.usage, name) for name in _BUCKETS.values()}
    for key, name in _BUCKETS.items():
        if usage.get(key) is not None:
            figures[name] = credible_tokens(usage[key])
            if figures[name] is None:
                parts.flags.add("usage_not_credible")
    parts.usage = LlmUsage(**figures)
