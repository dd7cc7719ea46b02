"""Both clients against a real server with bad manners: one request a call, in its time, and a reason for whoever reads it."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import pytest

from ctxweb.llm.base import LlmFailure, LlmRequest, LlmUsage
from ctxweb.llm.openai_compatible import OpenAiCompatibleClient, limit_name
from tests.ctxweb.llm.asked import KEY, REQUEST, SAID, SHORT
from tests.model_answers import USAGE
from tests.model_server import BEHAVIOURS, SERIES, ModelServer

pytestmark = pytest.mark.nodb
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
    "dripping_headers": ("timeout_total", True),
    "dripping_body": ("timeout_total", True),
    "error_in_stream": ("overloaded", True),
    "refuses": ("refused", False),
    "401_stalled": ("unauthorized", False),
    "401_endless": ("unauthorized", False),
    "500_compressed": ("server_error", True),
}
OTHERS = {  # where a protocol or an answer at once cannot tell it so
    ("openai_compatible", True, "error_in_stream"): "server_error",
    ("anthropic", False, "stream_without_end"): "reset",  # the bytes that were announced did not come
    ("openai_compatible", False, "stream_without_end"): "reset",
}
STREAMED_ONLY = ("error_in_stream",)


def test_every_behaviour_has_an_outcome() -> None:
    assert set(BEHAVIOURS) <= OUTCOMES.keys()


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_bad_answer_ends_in_its_failure_after_one_request(
    name: str, client: Any, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    if name in STREAMED_ONLY and not client._is_streamed:
        pytest.skip("an answer at once has no middle")
    if name.startswith("dripping"):
        client = type(client)(base_url=server.url, api_key=KEY, is_streamed=client._is_streamed, bounds=SHORT)
    server.play(name)
    with pytest.raises(LlmFailure) as caught:
        client.ask(REQUEST)
    code, is_retryable = OUTCOMES[name]
    code = OTHERS.get((client.id, client._is_streamed, name), code)
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


@pytest.mark.parametrize("name", ["slow_headers", "stalled_stream"])
def test_who_cancels_does_not_wait_for_the_server(name: str, client: Any, server: ModelServer) -> None:
    server.play(name)
    patient = type(client)(base_url=server.url, api_key=KEY, is_streamed=client._is_streamed)
    began = time.monotonic()
    with pytest.raises(LlmFailure) as caught:
        patient.ask(REQUEST, is_cancelled=lambda: time.monotonic() - began > 0.1)
    assert caught.value.code == "cancelled"
    assert time.monotonic() - began < 2


def test_recorded_tools_are_sent_with_the_choice_that_none_is_called(client: Any, server: ModelServer) -> None:
    tools = ({"name": "run", "description": "runs", "input_schema": {"type": "object"}},)
    client.ask(LlmRequest(model="m", system="s", messages=REQUEST.messages, max_tokens=9, shape="prefix", tools=tools))
    (asked,) = server.requests
    assert asked.body["tools"] == list(tools)
    assert asked.body["tool_choice"] in ({"type": "none"}, "none")


@pytest.mark.parametrize(
    ("host", "model", "name"),
    [
        ("api.openai.com", "gpt-4o", "max_completion_tokens"),
        ("mine.openai.azure.com:443", "summaries", "max_completion_tokens"),
        ("gateway.example", "gpt-5.1", "max_completion_tokens"),
        ("gateway.example", "o3-mini", "max_completion_tokens"),
        ("gateway.example", "gpt-4o", "max_tokens"),
        ("127.0.0.1:11434", "gpt-oss-20b", "max_tokens"),
        ("127.0.0.1:11434", "o1iver", "max_tokens"),
        ("api.openai.com.example", "deepseek-chat", "max_tokens"),
    ],
)
def test_the_limit_of_an_answer_has_the_name_that_the_server_obeys(host: str, model: str, name: str) -> None:
    assert limit_name(host, model) == name


def test_a_reasoning_model_is_given_its_limit_once(server: ModelServer) -> None:
    OpenAiCompatibleClient(base_url=server.url).ask(dataclasses.replace(REQUEST, model="gpt-5-mini"))
    (asked,) = server.requests
    assert asked.body["max_completion_tokens"] == REQUEST.max_tokens
    assert "max_tokens" not in asked.body


@pytest.mark.parametrize(("name", "status"), [("529", 529), ("error_in_stream", None)])
def test_a_refusal_has_a_status_and_an_answer_that_was_broken_off_has_none(
    name: str, status: int | None, client: Any, server: ModelServer
) -> None:
    if name in STREAMED_ONLY and not client._is_streamed:
        pytest.skip("an answer at once has no middle")
    server.play(name)
    with pytest.raises(LlmFailure, match="overloaded_error") as caught:
        client.ask(REQUEST)
    assert caught.value.status == status
