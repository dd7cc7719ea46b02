"""Both clients against a real server with bad manners: one request a call, in its time, and a reason for whoever reads it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ctxweb.llm.anthropic import AnthropicClient
from ctxweb.llm.base import LlmClient, LlmFailure, LlmRequest, LlmUsage
from ctxweb.llm.network import Bounds
from ctxweb.llm.openai_compatible import OpenAiCompatibleClient
from tests.model_server import BEHAVIOURS, SERIES, USAGE, ModelServer, model_server

pytestmark = pytest.mark.nodb
KEY = "sk-secret-of-a-person"
SAID = "the words that a person wrote"
BOUNDS = Bounds(connect=0.5, read=0.4, total=1.2, bytes=512 * 1024)
REQUEST = LlmRequest(model="a-model", system="You write.", messages=({"role": "user", "content": SAID},), max_tokens=500, shape="framed")
OUTCOMES = {
    # behaviour: code, whether it may be tried again
    "slow_headers": ("timeout_read", True),
    "stalled_stream": ("timeout_read", True),
    "endless_body": ("answer_too_large", False),
    "redirect": ("redirected", False),
    "400_too_long": ("bad_request", False),
    "401": ("unauthorized", False),
    "403": ("forbidden", False),
    "404_model": ("model_not_found", False),
    "429_short": ("rate_limited", True),
    "429_one_hour": ("rate_limited", False),
    "500_then_ok": ("server_error", True),
    "529_twice": ("overloaded", True),
    "reset_midway": ("reset", True),
    "broken_json": ("broken_answer", False),
    "stream_without_end": ("stream_unfinished", True),
    "empty": ("empty_answer", False),
    "reasoning_only": ("reasoning_only", False),
    "cut_at_limit": ("cut_at_limit", False),
    "tool_call": ("tool_call", False),
    "longer_than_range": ("answer_too_large", False),
    "compressed": ("broken_answer", False),
    "one_byte_a_second": ("timeout_total", True),
    "error_in_stream": ("overloaded", True),
    "refuses": ("refused", False),
}
OTHERS = {  # where a protocol or an answer at once cannot tell it so
    ("openai_compatible", "error_in_stream"): ("server_error", False),
}
STREAMED_ONLY = ("error_in_stream",)
KINDS: dict[str, Callable[..., LlmClient]] = {"anthropic": AnthropicClient, "openai_compatible": OpenAiCompatibleClient}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


@pytest.fixture(params=[(kind, streamed) for kind in KINDS for streamed in (True, False)], ids=lambda each: f"{each[0]}-{each[1]}")
def client(request: pytest.FixtureRequest, server: ModelServer) -> Any:
    kind, streamed = request.param
    return KINDS[kind](base_url=server.url, api_key=KEY, is_streamed=streamed, bounds=BOUNDS)


def test_every_behaviour_has_an_outcome() -> None:
    assert set(BEHAVIOURS) <= OUTCOMES.keys()


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_bad_answer_ends_in_its_failure_after_one_request(
    name: str, client: Any, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    if name in STREAMED_ONLY and not client._is_streamed:
        pytest.skip("an answer at once has no middle")
    server.play(name)
    began = time.monotonic()
    with pytest.raises(LlmFailure) as caught:
        client.ask(REQUEST)
    assert time.monotonic() - began < BOUNDS.total + 2
    code, is_retryable = OUTCOMES[name]
    if not client._is_streamed and name == "stream_without_end":
        code = "reset"  # the bytes that were announced did not come
    if (client.id, name) in OTHERS:
        code = OTHERS[client.id, name][0]
    assert (caught.value.code, caught.value.is_retryable) == (code, is_retryable)
    assert len(server.requests) == 1
    told = f"{caught.value} {caught.value!r} {caplog.text}"
    for hidden in (SAID, KEY, "nobody repeats"):
        assert hidden not in told
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("name", SERIES)
def test_a_failure_that_time_heals_is_tried_by_the_caller_alone(name: str, client: Any, server: ModelServer) -> None:
    server.play(name)
    for number in range(1, len(SERIES[name])):
        with pytest.raises(LlmFailure):
            client.ask(REQUEST)
        assert len(server.requests) == number
    assert "## Decisions" in client.ask(REQUEST).text


def test_a_good_answer_has_its_text_model_and_disjoint_usage(client: Any, server: ModelServer) -> None:
    answer = client.ask(REQUEST)
    assert (answer.model, answer.request_id, answer.flags) == ("a-model", "req_test", ())
    assert answer.text.startswith("## Request and intent")
    fresh = USAGE["prompt"] - USAGE["cached"]
    written = 0 if client.id == "anthropic" else None
    assert answer.usage == LlmUsage(
        input_tokens=fresh, cache_read_tokens=USAGE["cached"], cache_write_tokens=written, output_tokens=USAGE["output"]
    )
    (asked,) = server.requests
    assert "tools" not in asked.body
    assert asked.body["max_tokens"] == 500
    assert KEY in asked.headers.get("x-api-key", "") + asked.headers.get("authorization", "")


def test_figures_that_cannot_be_are_unknown_and_said_so(client: Any, server: ModelServer) -> None:
    server.play("lies_about_usage")
    answer = client.ask(REQUEST)
    assert answer.usage == LlmUsage()
    assert answer.flags == ("usage_not_credible",)


def test_nobody_follows_a_redirect(client: Any, server: ModelServer) -> None:
    with model_server() as elsewhere:
        server.elsewhere = elsewhere.url
        server.play("redirect")
        with pytest.raises(LlmFailure):
            client.ask(REQUEST)
        assert elsewhere.requests == []


@pytest.mark.parametrize("name", ["slow_headers", "stalled_stream"])
def test_who_cancels_does_not_wait_for_the_server(name: str, client: Any, server: ModelServer) -> None:
    server.play(name)
    patient = type(client)(base_url=server.url, api_key=KEY, is_streamed=client._is_streamed)
    began = time.monotonic()
    with pytest.raises(LlmFailure) as caught:
        patient.ask(REQUEST, is_cancelled=lambda: time.monotonic() - began > 0.1)
    assert caught.value.code == "cancelled"
    assert time.monotonic() - began < 2


def test_the_proxy_and_the_keys_of_the_environment_are_not_used(client: Any, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    client.ask(REQUEST)
    assert "another" not in str(server.requests[0].headers)


def test_a_server_that_is_not_there_cannot_be_reached(client: Any, server: ModelServer) -> None:
    nowhere = type(client)(base_url="http://127.0.0.1:9", api_key=KEY, is_streamed=client._is_streamed, bounds=BOUNDS)
    with pytest.raises(LlmFailure) as caught:
        nowhere.ask(REQUEST)
    assert caught.value.code == "connect_failed"


def test_anthropic_counts_a_prompt_and_a_failed_count_is_none(server: ModelServer) -> None:
    client = AnthropicClient(base_url=server.url, api_key=KEY, bounds=BOUNDS)
    assert client.count_tokens(REQUEST) is None
    server.counts = 4_321
    assert client.count_tokens(REQUEST) == 4_321
    assert server.requests == []


def test_the_key_shows_nowhere(client: Any) -> None:
    assert KEY not in f"{client!r} {client}"


def test_recorded_tools_are_sent_with_the_choice_that_none_is_called(client: Any, server: ModelServer) -> None:
    tools = ({"name": "run", "description": "runs", "input_schema": {"type": "object"}},)
    client.ask(LlmRequest(model="m", system="s", messages=REQUEST.messages, max_tokens=9, shape="prefix", tools=tools))
    (asked,) = server.requests
    assert asked.body["tools"] == list(tools)
    assert asked.body["tool_choice"] in ({"type": "none"}, "none")
