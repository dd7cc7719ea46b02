"""A chain of summaries over a session that grows: each request holds what is new and the checkpoint before it, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxweb.models import LOCAL, Project, Session, Summary
from ctxweb.services.checkpoint_plan import SummaryAsked, summary_plan
from ctxweb.services.durable_changes import durable_change
from ctxweb.services.durable_versions import Author
from tests.ctxweb.durable.sessions import fact, pending
from tests.ctxweb.summaries.models import Serve
from tests.ctxweb.summaries.talks import checkpoint, imported, summarised, talk
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("home")]
STATE = ("DURABLE-FACT-WORDS", "DURABLE-TASK-WORDS")


def remember(session: Session) -> None:
    durable_change(
        project=Project.objects.get(pk=LOCAL), session=session.public_id, expected=0, author=Author(name="Ada", origin="page"),
        changes={"facts": [fact(content=STATE[0])], "pending_items": [pending(description=STATE[1])]},
    )  # fmt: skip


def sent(server: ModelServer) -> list[dict[str, Any]]:
    """The record of the last request, a line each."""
    content = server.requests[-1].body["messages"][0]["content"]
    return [json.loads(line) for line in content.split("\n") if line.startswith("{")]


def test_a_chain_of_five_sends_only_what_is_new_with_the_last_checkpoint(serve: Serve) -> None:
    server = serve()
    parent = ""
    for number in range(1, 6):
        session = imported(talk(4 * number))
        if number == 1:
            remember(session)
        server.answer = checkpoint(number)
        job = summarised(session, summarizer="anthropic", is_incremental=True)
        assert job.state == "succeeded", job.error
        summary = Summary.objects.select_related("parent").get(public_id=(job.result or {})["summary"])
        assert (summary.parent.public_id if summary.parent else "") == parent
        assert (summary.from_call, summary.to_call) == (1, 4 * number)
        raw = server.requests[-1].raw.decode()
        lines = sent(server)
        if number > 1:
            assert lines.pop(0) == {"kind": "checkpoint", "text": checkpoint(number - 1)}
        asked = [line["text"] for line in lines if line["role"] == "user" and line["kind"] == "text"]
        assert asked == [f"Question {n}: you must keep port {5400 + n} open. Please look at src/module_{n}.py." for n in new(number)]
        assert not any(f"checkpoint {older} says" in raw for older in range(1, number - 1))
        assert not any(words in raw for words in (*STATE, "SYSTEM-PROMPT", "config.txt")), "no durable state, no pointer, no system prompt"
        assert len(raw) < 14_000, "whatever the session has grown to"
        parent = summary.public_id
    assert len(server.requests) == 5
    assert Summary.objects.get(public_id=parent).range_tokens > 5 * Summary.objects.order_by("pk")[0].range_tokens // 2


def new(number: int) -> range:
    """The questions that came with the calls since the last checkpoint."""
    return range(4 * (number - 1) + 1, 4 * number + 1)


def test_an_incremental_summary_without_anything_new_is_no_summary(serve: Serve) -> None:
    server = serve()
    server.answer = checkpoint(1)
    session = imported(talk(6))
    first = summarised(session, summarizer="anthropic", is_incremental=True)
    again = summarised(session, summarizer="anthropic", is_incremental=True)
    assert (again.pk, again.state) == (first.pk, "succeeded")
    assert len(server.requests) == 1


def test_what_a_refused_summary_or_a_trial_said_is_merged_with_nothing(serve: Serve) -> None:
    server = serve()
    session = imported(talk(6))
    server.answer = "done"
    assert summarised(session, summarizer="anthropic", to_call=3).state == "failed"
    server.answer = ""
    assert summarised(session, summarizer="anthropic", to_call=4, canaries=2).state == "succeeded"
    assert summary_plan(session=session, asked=SummaryAsked(is_incremental=True)).parent == ""


def test_an_extract_merges_too(serve: Serve) -> None:
    session = imported(talk(6))
    assert summarised(session, to_call=4).state == "succeeded"
    job = summarised(session, is_incremental=True)
    assert job.state == "succeeded", job.error
    summary = Summary.objects.select_related("parent", "body").get(public_id=(job.result or {})["summary"])
    assert summary.parent is not None
    assert "port 5401" in summary.body.text, "carried from the extract before it"
    assert "port 5406" in summary.body.text


def test_a_checkpoint_that_the_session_recorded_is_merged_with_by_its_place(serve: Serve) -> None:
    """A later recorded summary takes the place of a made one: the made one's range is in the view no more."""
    server = serve()
    lines = [json.loads(line) for line in talk(4).splitlines()]
    takes = ["2.1", "3.1", "3.2", "4.1"]
    lines += [
        {"type": "message", "role": "user", "origin": "summary", "content": "RECORDED: port 5401 must be open.", "shown": False},
        {"type": "compaction", "mechanism": "summary", "edits": [{"verb": "summarise", "takes": takes, "puts": [14]}]},
        {"type": "message", "role": "user", "content": "Go on with what is left, please."},
        {"type": "call", "usage": {"input_tokens": 900, "output_tokens": 4}},
    ]
    session = imported(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    plan = summary_plan(session=session, asked=SummaryAsked(is_incremental=True))
    assert (plan.parent, plan.parent_place) == ("", "14.1")
    assert plan.blocks[0] == "14.1"
    assert summarised(session, summarizer="anthropic", is_incremental=True).state == "succeeded"
    told = sent(server)
    assert told[0] == {"kind": "checkpoint", "text": "RECORDED: port 5401 must be open."}
    assert Summary.objects.get().parent_place == "14.1"
