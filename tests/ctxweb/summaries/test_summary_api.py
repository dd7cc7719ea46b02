"""Summaries by script: the dry run, the job, the same job for the same question, and what is wrong with its field."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client, override_settings

from ctxweb.models import Job, Summary, SummaryCall
from tests.ctxweb.summaries.models import MODEL, Serve
from tests.ctxweb.summaries.talks import finished, imported, talk

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("home")]
Post = Callable[..., tuple[int, Any]]


@pytest.fixture
def post(settings: Any) -> Post:
    session = imported(talk(6))

    def send(**body: Any) -> tuple[int, Any]:
        answer = Client().post(
            f"/api/v1/sessions/{session.public_id}/summaries",
            data=json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {settings.API_TOKEN}"},
        )
        return answer.status_code, answer.json()

    return send


def test_a_dry_run_tells_what_would_be_taken_and_asks_nobody(serve: Serve, post: Post) -> None:
    server = serve()
    status, plan = post(dry_run=True, summarizer="anthropic", **{"from": 2, "to": 4})
    assert (status, plan["from_call"], plan["to_call"], plan["model"], plan["problems"]) == (200, 2, 4, MODEL, [])
    assert plan["blocks"][0] == "3.1"
    assert plan["input_tokens"] > 0
    assert plan["cost_nano"] > 0
    assert plan["caps_left"] == {"session": 10**9, "day": 10**10, "project": 10**11}
    assert plan["breaker"]["open_until"] is None
    assert (server.requests, Job.objects.filter(kind="summary").count(), SummaryCall.objects.count()) == ([], 0, 0)


def test_a_dry_run_names_what_forbids_it(post: Post) -> None:
    status, plan = post(dry_run=True, summarizer="openai_compatible")
    assert status == 200
    assert [problem["code"] for problem in plan["problems"]] == ["not_configured"]
    assert "CTXWEB_OPENAI_MODEL" in plan["problems"][0]["message"]


def test_a_post_opens_the_job_and_the_same_post_answers_with_the_same(serve: Serve, post: Post) -> None:
    server = serve()
    status, job = post(summarizer="anthropic", to=5, focus="ports")
    assert (status, job["kind"], job["state"]) == (202, "summary", "queued")
    assert post(summarizer="anthropic", to=5, focus="ports")[1]["id"] == job["id"]
    finished(Job.objects.get(public_id=job["id"]))
    status, again = post(summarizer="anthropic", to=5, focus="ports")
    assert (status, again["id"], again["state"]) == (202, job["id"], "succeeded")
    assert again["result"]["summary"] == Summary.objects.get().public_id
    assert len(server.requests) == 1


def test_a_post_without_a_body_extracts_the_whole_view(post: Post) -> None:
    status, job = post()
    assert status == 202
    assert finished(Job.objects.get(public_id=job["id"])).state == "succeeded"


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"to": 99}, "invalid", "to_call"),
        ({"summarizer": "oracle"}, "invalid", "summarizer"),
        ({"shape": "round"}, "invalid", "shape"),
        ({"keep_tokens": -1}, "invalid", "keep_tokens"),
        ({"sumarizer": "x"}, "invalid", "sumarizer"),
        ({"to": 1}, "small_range", "from_call"),
        ({"summarizer": "anthropic"}, "not_configured", "summarizer"),
    ],
)
def test_what_is_wrong_is_named_with_its_field(post: Post, body: dict[str, Any], code: str, field: str) -> None:
    status, answer = post(**body)
    assert (status, answer["error"]["code"]) == (422, code)
    assert field in answer["error"]["message"]
    assert Job.objects.filter(kind="summary").count() == 0


def test_a_session_that_is_not_there_answers_like_any_foreign_one(settings: Any) -> None:
    address = "/api/v1/sessions/nothing/summaries"
    answer = Client().post(address, data="{}", content_type="application/json", headers={"Authorization": f"Bearer {settings.API_TOKEN}"})
    assert answer.status_code == 404


def test_the_command_summarises_in_the_foreground_and_waits_for_what_it_was_told(serve: Serve, capsys: Any) -> None:
    server = serve("429_short", "good")
    session = imported(talk(6))
    call_command("summarise", session.public_id, "--with", "anthropic", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["state"], told["error"]) == ("succeeded", None)
    assert told["text"].startswith("## Request and intent")
    assert len(server.requests) == 2


def test_the_command_says_what_it_would_take_and_why_it_cannot(capsys: Any) -> None:
    session = imported(talk(6))
    call_command("summarise", session.public_id, "--from", "2", "--with", "anthropic", "--dry-run")
    shown = capsys.readouterr().out
    assert "calls 2–6: " in shown
    assert "it cannot run: summarizer: set CTXWEB_ANTHROPIC_MODEL" in shown
    with pytest.raises(CommandError, match="summarizer: set CTXWEB_ANTHROPIC_MODEL"):
        call_command("summarise", session.public_id, "--with", "anthropic")
    with pytest.raises(CommandError, match="There is no session"):
        call_command("summarise", "nothing")
    with override_settings(CTXWEB_SUMMARY_MAX_TOKENS=200), pytest.raises(CommandError, match="max_tokens: "):
        call_command("summarise", session.public_id, "--max-tokens", "201")


def test_the_command_ends_with_the_reason_of_a_failed_job(serve: Serve) -> None:
    serve("401")
    session = imported(talk(6))
    with pytest.raises(CommandError, match="key"):
        call_command("summarise", session.public_id, "--with", "anthropic")
