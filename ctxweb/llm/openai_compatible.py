"""Chat Completions as OpenAI, DeepSeek, Ollama, vLLM, llama.cpp and many others speak it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2

from ctxweb.llm.answers import Parts, answer_of, broken_off, failure_of_status, request_id, word
from ctxweb.llm.base import LlmAnswer, LlmFailure, LlmRequest, LlmUsage, credible_tokens, never, unheard
from ctxweb.llm.network import BOUNDS, Bounds, failure_of_network, http_client, run_bounded

CUT = frozenset({"length"})
REFUSED = frozenset({"content_filter"})
_OPENAI = re.compile(r"(api\.openai\.com|.+\.openai\.azure\.com)(:\d+)?", re.ASCII)
_REASONING = re.compile(r"(gpt-[5-9]|o[1-9])(?![a-z0-9])", re.ASCII)


class OpenAiCompatibleClient:
    """One server. `bounds` are those of a call. A server of one's own may need no key."""

    id = "openai_compatible"

    def __init__(self, *, base_url: str, api_key: str = "", is_streamed: bool = True, bounds: Bounds = BOUNDS) -> None:
        self._url, self._api_key, self._is_streamed, self._bounds = f"{base_url}/chat/completions", api_key, is_streamed, bounds
        self._host = urlsplit(base_url).netloc

    def ask(self, request: LlmRequest, *, is_cancelled: Callable[[], bool] = never, on_text: Callable[[int], None] = unheard) -> LlmAnswer:
        """See `LlmClient`."""
        try:
            return run_bounded(self._ask(request, on_text), bounds=self._bounds, is_cancelled=is_cancelled)
        except LlmFailure:
            raise
        except Exception as error:
            raise failure_of_network(error, host=self._host, bounds=self._bounds) from None

    def count_tokens(self, request: LlmRequest) -> int | None:
        """No server of this kind counts without answering."""
        return None

    async def _ask(self, request: LlmRequest, on_text: Callable[[int], None]) -> LlmAnswer:
        parts = Parts(host=self._host, bounds=self._bounds, on_text=on_text)
        body = _body(request, limit=limit_name(self._host, request.model), is_streamed=self._is_streamed)
        headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        async with (
            http_client(self._bounds) as client,
            client.stream("POST", self._url, json=body, headers=headers) as response,
        ):
            parts.request_id = request_id(response.headers)
            if response.status_code != 200:
                raise failure_of_status(
                    host=self._host, status=response.status_code, headers=response.headers, kind=_kind(_json(await response.aread()))
                )
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                await _stream(parts, response)
            else:
                _whole(parts, json.loads(await response.aread()))
        return answer_of(parts, cut=CUT, refused=REFUSED)


def limit_name(host: str, model: str) -> str:
    """How the limit of an answer is called: OpenAI refuses `max_tokens` for its reasoning models, wherever they run; most other servers
    know that name alone, and some ignore the new one and write without end."""
    return "max_completion_tokens" if _OPENAI.fullmatch(host) or _REASONING.match(model) else "max_tokens"


def _body(request: LlmRequest, *, limit: str, is_streamed: bool) -> dict[str, Any]:
    system = [{"role": "system", "content": request.system}] if request.system else []
    body: dict[str, Any] = {"model": request.model, "messages": [*system, *request.messages], limit: request.max_tokens}
    if request.tools:
        body |= {"tools": list(request.tools), "tool_choice": "none"}
    if is_streamed:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


async def _stream(parts: Parts, response: httpx2.Response) -> None:
    async for data in _events(response):
        if data == "[DONE]":
            parts.is_whole = bool(parts.stop)
            return
        chunk = json.loads(data)
        if chunk.get("error"):
            raise broken_off(parts, status=500, kind=_kind(chunk))
        parts.model = word(chunk.get("model")) or parts.model
        _used(parts, chunk.get("usage") or {})
        for choice in chunk.get("choices") or ():
            _piece(parts, choice.get("delta") or {})
            parts.stop = word(choice.get("finish_reason")) or parts.stop


async def _events(response: httpx2.Response) -> AsyncIterator[str]:
    """The data of each server-sent event; the transport bounds how much there can be of a line."""
    data: list[str] = []
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line.strip() and data:
            yield "\n".join(data)
            data = []
    if data:
        yield "\n".join(data)


def _whole(parts: Parts, answer: Any) -> None:
    choice = answer["choices"][0]
    parts.model = word(answer.get("model"))
    _used(parts, answer.get("usage") or {})
    _piece(parts, choice.get("message") or {})
    parts.stop = word(choice.get("finish_reason"))
    parts.is_whole = bool(parts.stop)


def _piece(parts: Parts, piece: Mapping[str, Any]) -> None:
    parts.text(piece.get("content"))
    parts.tool_calls += bool(piece.get("tool_calls") or piece.get("function_call"))
    parts.reasoning += bool(piece.get("reasoning_content") or piece.get("reasoning"))
    if piece.get("refusal"):
        raise parts.failure("refused", "withheld its answer: try another model, or other calls")


def _used(parts: Parts, usage: Mapping[str, Any]) -> None:
    """`prompt_tokens` counts what was read from the cache too: the buckets are made disjoint."""
    if not usage:
        return
    prompt, output = credible_tokens(usage.get("prompt_tokens")), credible_tokens(usage.get("completion_tokens"))
    details = usage.get("prompt_tokens_details")
    cached = credible_tokens(details.get("cached_tokens")) if isinstance(details, dict) else None
    cached = credible_tokens(usage.get("prompt_cache_hit_tokens")) if cached is None else cached
    if prompt is None or output is None or (cached or 0) > prompt:
        parts.flags.add("usage_not_credible")
        prompt = None
    fresh = None if prompt is None else prompt - (cached or 0)
    parts.usage = LlmUsage(input_tokens=fresh, cache_read_tokens=cached, output_tokens=output)


def _kind(body: Any) -> str:
    """The provider's own word for an error."""
    error = body.get("error") if isinstance(body, dict) else None
    return word(error.get("code")) or word(error.get("type")) if isinstance(error, dict) else ""


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None
