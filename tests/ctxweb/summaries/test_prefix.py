"""Shape `prefix`: the session's own prompt as it was, and the question behind it; only where the project and the session allow it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command

from ctxweb.models import LOCAL, Project, Session, Summary, SummaryCall
from ctxweb.services.checkpoint_plan import SummaryAsked, summary_plan
from tests.ctxweb.summaries.models import Serve
from tests.ctxweb.summaries.talks import LISTING, checkpoint, imported, summarised, talk
from tests.shared import SHARED, needs_shared

pytestmark = [pytest.mark.nodb, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("home")]
TOOLS = [{"name": "read", "description": "Reads a file.", "input_schema": {"type": "object"}}]
USE = {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.py"}}
MESSAGES = [
    {"role": "user", "content": "Read a.py and keep the port 5433 open."},
    {"role": "assistant", "content": [{"type": "text", "text": "I read it."}, USE]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": LISTING}]},
]


def requests(**more: Any) -> bytes:
    request = {"model": "claude-sonnet-4-5", "max_tokens": 100, "system": "You are careful.", "tools": TOOLS, "messages": MESSAGES, **more}
    usage = {"input_tokens": 900, "output_tokens": 9}
    response = {"id": "m1", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "Done."}], "usage": usage,
                "model": "claude-sonnet-4-5", "stop_reason": "end_turn"}  # fmt: skip
    return json.dumps({"request": request, "response": response}).encode() + b"\n"


@pytest.fixture
def opted_in(home: Any) -> None:
    call_command("project", "--prefix-summaries", "on")
    assert Project.objects.get(pk=LOCAL).prefix_summaries


def problem(session: Session, **asked: Any) -> str:
    plan = summary_plan(session=session, asked=SummaryAsked(summarizer="anthropic", shape="prefix", **asked))
    return next(one.message for one in plan.problems if one.code == "no_prefix")


@pytest.mark.usefixtures("opted_in")
def test_the_prompt_is_sent_as_it_was_and_the_question_stands_behind_it(serve: Serve) -> None:
    server = serve()
    server.answer = checkpoint(1)
    session = imported(requests(), name="log.jsonl")
    job = summarised(session, summarizer="anthropic", shape="prefix")
    assert job.state == "succeeded", job.error
    body = server.requests[0].body
    assert (body["system"], body["tools"], body["tool_choice"]) == ("You are careful.", TOOLS, {"type": "none"})
    assert body["messages"][:-1] == MESSAGES
    assert body["messages"][-1]["content"].startswith("Stop here.")
    assert (Summary.objects.get().shape, SummaryCall.objects.get().shape) == ("prefix", "prefix")


@pytest.mark.usefixtures("opted_in")
def test_a_system_prompt_in_blocks_is_sent_in_blocks_with_their_marks_for_the_cache(serve: Serve) -> None:
    server = serve()
    server.answer = checkpoint(1)
    blocks = [{"type": "text", "text": "One."}, {"type": "text", "text": "Two.", "cache_control": {"type": "ephemeral"}}]
    session = imported(requests(system=blocks), name="log.jsonl")
    assert summarised(session, summarizer="anthropic", shape="prefix").state == "succeeded"
    assert server.requests[0].body["system"] == blocks


@needs_shared
@pytest.mark.usefixtures("opted_in")
def test_a_log_of_dsh_has_all_that_is_needed(serve: Serve) -> None:
    server = serve()
    path = SHARED / "corpus" / "dsh" / "toninfo__deepseek-harness__live-mode-switching.jsonl"
    session = imported(path.read_bytes(), name=path.name)
    plan = summary_plan(session=session, asked=SummaryAsked(summarizer="anthropic", shape="prefix"))
    assert plan.problems == ()
    job = summarised(session, summarizer="anthropic", shape="prefix")
    assert job.error is None or job.error["code"].startswith("refused_"), job.error
    body = server.requests[0].body
    assert body["system"].startswith("You are an AI agent powered by the DeepSeek Harness SDK.")
    assert [set(tool) for tool in body["tools"]] == [{"name", "description", "input_schema"}] * len(body["tools"])
    parts = [part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]]
    assert {part["type"] for part in parts} <= {"text", "tool_use", "tool_result"}
    ids = {part["id"] for part in parts if part["type"] == "tool_use"}
    assert ids == {part["tool_use_id"] for part in parts if part["type"] == "tool_result"} != set()


@needs_shared
@pytest.mark.usefixtures("opted_in")
def test_a_log_of_dsh_is_written_for_chat_completions_too(serve: Serve) -> None:
    server = serve()
    path = SHARED / "corpus" / "dsh" / "toninfo__deepseek-harness__live-mode-switching.jsonl"
    job = summarised(imported(path.read_bytes(), name=path.name), summarizer="openai_compatible", shape="prefix")
    assert job.error is None or job.error["code"].startswith("refused_"), job.error
    body = server.requests[0].body
    assert body["messages"][0]["role"] == "system"
    assert {tool["type"] for tool in body["tools"]} == {"function"}
    assert body["tool_choice"] == "none"
    called = [call["id"] for message in body["messages"] for call in message.get("tool_calls", ())]
    assert called == [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"] != []
    assert body["messages"][-1]["content"].startswith("Stop here.")


@pytest.mark.usefixtures("opted_in")
def test_what_was_recorded_for_one_api_is_not_sent_to_the_other(serve: Serve) -> None:
    serve()
    session = imported(requests(), name="log.jsonl")
    plan = summary_plan(session=session, asked=SummaryAsked(summarizer="openai_compatible", shape="prefix"))
    assert [(one.code, one.field) for one in plan.problems] == [("no_prefix", "summarizer")]


def test_a_project_has_to_opt_in(serve: Serve) -> None:
    serve()
    assert "--prefix-summaries on" in problem(imported(requests(), name="log.jsonl"))


@pytest.mark.usefixtures("opted_in")
@pytest.mark.parametrize(
    ("data", "asked", "why"),
    [
        (talk(6), {}, "do not record their system prompt"),
        (requests(system=None), {}, "did not record the system prompt"),
        (requests(), {"is_incremental": True}, "cannot be incremental"),
        (requests(), {"canaries": 2}, "framed range only"),
        (requests(), {"keep_tokens": 20}, "the whole prompt"),
    ],
)
def test_where_it_cannot_be_had_the_plan_says_why(serve: Serve, data: bytes, asked: dict[str, Any], why: str) -> None:
    serve()
    assert why in problem(imported(data, name="log.jsonl"), **asked)


@needs_shared
@pytest.mark.usefixtures("opted_in")
def test_a_placeholder_is_no_system_prompt(serve: Serve) -> None:
    serve()
    path = SHARED / "corpus" / "dsh" / "toninfo__deepseek-harness__bash-spill.jsonl"
    assert "use the shape framed" in problem(imported(path.read_bytes(), name=path.name))
