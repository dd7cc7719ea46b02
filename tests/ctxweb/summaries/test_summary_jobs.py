"""A summary job, from its opening to its end: what is kept, what is refused, what is asked again, and that nothing else changes."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from ctxweb.home import Home
from ctxweb.jobs import job_cancel, job_claim
from ctxweb.llm.base import LlmAnswer, LlmRequest
from ctxweb.llm.network import BOUNDS
from ctxweb.models import Breaker, Job, Record, Session, Summary, SummaryCall
from ctxweb.services import summary_ask, summary_model
from ctxweb.services.checkpoint_plan import SummaryAsked, SummaryRefused, summary_plan
from ctxweb.services.jobs_run import claimed_run, job_run, jobs_sweep
from ctxweb.services.rebuild import rebuild
from ctxweb.services.summary_calls import calls_sweep
from ctxweb.storage import blob_path
from tests.ctxweb.summaries.models import MODEL, Serve, everything_else, prices
from tests.ctxweb.summaries.talks import finished, imported, opened, run, summarised, talk
from tests.model_answers import summary_of
from tests.model_server import BEHAVIOURS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("home")]
ELSEWHERE = "another-machine/1/1"

ENDS = {
    # how the server behaves: the state of the job, the code of its error, and the codes of its calls
    "slow_headers": ("failed", "timeout_read", ["timeout_read", "timeout_read"]),
    "stalled_stream": ("failed", "timeout_read", ["timeout_read", "timeout_read"]),
    "endless_body": ("failed", "answer_too_large", ["answer_too_large"]),
    "redirect": ("failed", "redirected", ["redirected"]),
    "400_too_long": ("failed", "bad_request", ["bad_request"]),
    "401": ("failed", "unauthorized", ["unauthorized"]),
    "403": ("failed", "forbidden", ["forbidden"]),
    "404_model": ("failed", "model_not_found", ["model_not_found"]),
    "429_short": ("failed", "rate_limited", ["rate_limited", "rate_limited"]),
    "429_one_hour": ("failed", "rate_limited", ["rate_limited"]),
    "500_then_ok": ("succeeded", "", ["server_error", ""]),
    "529_twice": ("failed", "overloaded", ["overloaded", "overloaded"]),
    "reset_midway": ("failed", "reset", ["reset", "reset"]),
    "broken_json": ("failed", "broken_answer", ["broken_answer"]),
    "stream_without_end": ("failed", "stream_unfinished", ["stream_unfinished", "stream_unfinished"]),
    "empty": ("failed", "empty_answer", ["empty_answer"]),
    "reasoning_only": ("failed", "reasoning_only", ["reasoning_only"]),
    "cut_at_limit": ("failed", "cut_at_limit", ["cut_at_limit"]),
    "tool_call": ("failed", "tool_call", ["tool_call"]),
    "longer_than_range": ("failed", "answer_too_large", ["answer_too_large"]),
}


def calls_of(job: Job) -> list[str]:
    return list(SummaryCall.objects.filter(job=job).order_by("number").values_list("code", flat=True))


def test_every_bad_manner_of_a_server_is_expected_of_a_job() -> None:
    assert set(ENDS) == set(BEHAVIOURS)


@pytest.mark.nodb
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_whatever_a_server_does_the_job_ends_with_a_reason_after_at_most_two_calls(serve: Serve, behaviour: str) -> None:
    server = serve(behaviour)
    session = imported(talk(6))
    before, view = everything_else(), summary_plan(session=session, asked=SummaryAsked()).view_sha256
    job = summarised(session, summarizer="anthropic")
    state, code, codes = ENDS[behaviour]
    assert (job.state, (job.error or {}).get("code", "")) == (state, code), job.error
    assert calls_of(job) == codes
    assert len(server.requests) == len(codes)
    assert not job.error or job.error["message"].rstrip(".") != ""
    assert everything_else() == before, "sessions, views, durable state and audit are as they were"
    assert summary_plan(session=session, asked=SummaryAsked()).view_sha256 == view
    assert Summary.objects.filter(state="kept").count() == (state == "succeeded")


@pytest.mark.nodb
@pytest.mark.parametrize("behaviour", ["good", "500_then_ok", "529_twice", "stalled_stream", "401"])
def test_servers_of_the_other_protocol_are_no_different(serve: Serve, behaviour: str) -> None:
    serve(behaviour)
    job = summarised(imported(talk(6)), summarizer="openai_compatible")
    state, code, codes = ENDS.get(behaviour, ("succeeded", "", [""]))
    assert (job.state, (job.error or {}).get("code", ""), calls_of(job)) == (state, code, codes)


def test_a_kept_summary_tells_where_it_comes_from_and_what_it_cost(serve: Serve) -> None:
    serve()
    session = imported(talk(6))
    job = summarised(session, summarizer="anthropic", focus="ports")
    summary, call = Summary.objects.get(), SummaryCall.objects.get()
    assert job.result == {"summary": summary.public_id, "state": "kept", "tokens": summary.tokens, "range_tokens": summary.range_tokens}
    assert (summary.session, summary.model, summary.shape, summary.trigger) == (session.public_id, MODEL, "framed", "manual")
    assert summary.view_after < summary.view_before
    assert summary.tokens < summary.range_tokens
    assert summary.prompt_version.startswith("framed-")
    assert summary.params["actor"] == "Ada"
    assert (call.state, call.cost_nano, call.usage["cache_read_tokens"]) == ("answered", 1_300_000, 200)
    assert call.reserved_nano is not None
    assert call.reserved_nano > 1_300_000 > 0
    assert call.request_id == "req_test"


def test_figures_that_cannot_be_are_unknown_and_what_was_reserved_counts(serve: Serve) -> None:
    serve("lies_about_usage")
    assert summarised(imported(talk(6)), summarizer="anthropic").state == "succeeded"
    call = SummaryCall.objects.get()
    assert (call.state, call.cost_nano) == ("answered", None)
    assert set(call.usage.values()) == {None}


NAMES = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot")
LONG = "\n".join(f"## {heading}\n- {' '.join(f'word{n * 31}' for n in range(900))}" for heading in (
    "Request and intent", "Technical concepts", "Files and code", "Errors and fixes", "Decisions", "Pending tasks", "Current state",
    "Next step and critical context"))  # fmt: skip


def test_a_summary_that_does_not_shrink_is_asked_for_once_more_and_shorter_and_then_refused(serve: Serve) -> None:
    server = serve()
    server.answer = LONG
    job = summarised(imported(talk(6)), summarizer="anthropic")
    assert job.error is not None
    assert (job.state, job.error["code"]) == ("failed", "refused_longer_than_range")
    assert calls_of(job) == ["longer_than_range", "longer_than_range"]
    asked = [request.raw.decode().partition("Write the checkpoint now, at most ")[2].partition(" ")[0] for request in server.requests]
    assert int(asked[1].replace(",", "")) == int(asked[0].replace(",", "")) // 2
    assert list(Summary.objects.values_list("state", "reason")) == [("refused", "longer_than_range")]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Everything is done, there is nothing to add.", "sentinel_only"),
        ("## Request and intent\n- one two three four five six seven eight nine ten eleven twelve thirteen", "missing_sections"),
    ],
)
def test_a_summary_that_may_not_stand_is_kept_for_reading_and_asked_for_once(serve: Serve, answer: str, reason: str) -> None:
    server = serve()
    server.answer = answer
    job = summarised(imported(talk(6)), summarizer="anthropic")
    assert job.error is not None
    assert (job.state, job.error["code"]) == ("failed", f"refused_{reason}")
    summary = Summary.objects.select_related("body").get()
    assert (summary.state, summary.reason, summary.body.text) == ("refused", reason, answer)
    assert len(server.requests) == 1


def test_nul_and_lone_surrogates_are_cleaned_on_both_ways(serve: Serve) -> None:
    server = serve()
    body = {"messages": [{"content": json.dumps({"kind": "text", "text": f"the port of {name} is open and stays so"})} for name in NAMES]}
    server.answer = summary_of(body) + "\n- a\0b \ud800 c"
    job = summarised(imported(talk(6, say=lambda n: f"ask {n} \0 and \ud83d here, you must keep it")), summarizer="anthropic")
    assert job.state == "succeeded", job.error
    text = Summary.objects.select_related("body").get().body.text
    assert "a␀b \ufffd c" in text
    sent = server.requests[0].raw.decode()
    assert "\\u0000" not in sent
    assert "\\ud83d" not in sent.lower()
    assert "ask 3 ␀ and � here" in json.loads(sent)["messages"][0]["content"]


def test_the_same_question_is_the_same_job_and_a_second_delivery_does_nothing(serve: Serve) -> None:
    server = serve()
    session = imported(talk(6))
    job = opened(session, summarizer="anthropic")
    assert opened(session, summarizer="anthropic").pk == job.pk
    assert opened(session, summarizer="anthropic", to_call=6).pk == job.pk, "the last call by its number is the same"
    assert opened(session, summarizer="anthropic", focus="x").pk != job.pk
    finished(job)
    again = opened(session, summarizer="anthropic")
    assert (again.pk, again.state, again.version) == (job.pk, "succeeded", job.version)
    job_run(job_id=job.pk)
    assert len(server.requests) == 1
    assert Summary.objects.count() == 1


def test_a_job_whose_summary_was_kept_ends_with_it_though_its_end_was_undone(serve: Serve) -> None:
    server = serve()
    job = summarised(imported(talk(6)), summarizer="anthropic")
    Job.objects.filter(pk=job.pk).update(state="queued", result=None)
    job.refresh_from_db()
    assert finished(job).result == {**(job.result or {}), "summary": Summary.objects.get().public_id}
    assert len(server.requests) == 1


def test_a_failed_job_can_be_started_again_with_two_calls_of_its_own(serve: Serve) -> None:
    server = serve("529_twice")
    session = imported(talk(6))
    assert summarised(session, summarizer="anthropic").state == "failed"
    server.play("good")
    job = summarised(session, summarizer="anthropic")
    assert job.state == "succeeded"
    assert calls_of(job) == ["overloaded", "overloaded", ""]


def during_the_call(job: Job, do: Callable[[], None]) -> Job:
    """Run the job, and do something once its call is reserved."""

    def act() -> None:
        try:
            while not SummaryCall.objects.exists():
                time.sleep(0.02)
            do()
        finally:
            connections.close_all()

    thread = threading.Thread(target=act)
    thread.start()
    run(job)
    thread.join(10)
    job.refresh_from_db()
    return job


def test_a_job_that_is_cancelled_while_the_model_stalls_ends_within_two_seconds(serve: Serve) -> None:
    server = serve("stalled_stream", bounds=BOUNDS)
    job = opened(imported(talk(6)), summarizer="anthropic")
    asked_at: list[float] = []

    def cancel() -> None:
        while not server.requests:  # what is cancelled before it is sent costs nothing
            time.sleep(0.02)
        asked_at.append(time.monotonic())
        job_cancel(job=Job.objects.get(pk=job.pk))

    during_the_call(job, cancel)
    assert job.state == "cancelled"
    assert time.monotonic() - asked_at[0] < 2
    assert list(SummaryCall.objects.values_list("state", "code", "cost_nano")) == [("failed", "cancelled", None)]
    assert Breaker.objects.filter(failures__gt=0).count() == 0


def test_a_job_tells_how_much_of_a_streamed_answer_has_come(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary_ask, "LOOK_SECONDS", 0.05)
    serve("stalled_stream", bounds=BOUNDS)
    job = opened(imported(talk(6)), summarizer="anthropic")
    seen: list[tuple[str, int, str]] = []

    def follow() -> None:
        while not (now := Job.objects.get(pk=job.pk)).done:
            time.sleep(0.02)
        seen.append((now.stage, now.done, now.unit))
        job_cancel(job=now)

    during_the_call(job, follow)
    assert job.state == "cancelled"
    assert seen[0][0] == "waiting for the model"
    assert seen[0][1] > 0
    assert seen[0][2] == "characters"


def taken_over(job: Job) -> Job:
    """Another machine takes the job, because its lease ran out."""
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1), worker=ELSEWHERE)
    claimed = job_claim(job_id=job.pk)
    assert claimed is not None
    return claimed


def test_a_result_that_comes_after_the_lease_is_kept_as_superseded_and_overwrites_nothing(serve: Serve) -> None:
    server = serve()
    server.delay = 0.3
    job = opened(imported(talk(6)), summarizer="anthropic")
    second: list[Job] = []

    def take_and_finish() -> None:
        second.append(taken_over(job))
        server.delay = 0.0
        claimed_run(job=second[0])

    during_the_call(job, take_and_finish)
    assert (job.state, job.attempt) == ("succeeded", 2)
    assert sorted(Summary.objects.values_list("state", "attempt")) == [("kept", 2), ("superseded", 1)]
    assert job.result is not None
    assert job.result["summary"] == Summary.objects.get(state="kept").public_id
    assert list(SummaryCall.objects.order_by("number").values_list("state", "attempt")) == [("answered", 1), ("answered", 2)]


def test_a_lease_that_is_lost_before_the_model_is_asked_asks_nobody(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    job = opened(imported(talk(6)), summarizer="anthropic")
    reserve = summary_model._reserve

    def late(*given: Any) -> SummaryCall:
        taken_over(job)
        return reserve(*given)

    monkeypatch.setattr(summary_model, "_reserve", late)
    run(job)
    assert (job.state, job.attempt) == ("leased", 2)
    assert server.requests == []
    assert SummaryCall.objects.count() == 0


def died_waiting(job: Job) -> None:
    """As if the process of its run had died between the reservation and the answer."""
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1), worker=ELSEWHERE)


class Killed(BaseException):
    """Stands for a process that ends without a word."""


class Deadly:
    """A client whose process dies when it asks."""

    id = "deadly"

    def count_tokens(self, request: LlmRequest) -> int | None:
        return None

    def ask(self, request: LlmRequest, *, is_cancelled: Callable[[], bool], on_text: Callable[[int], None]) -> LlmAnswer:
        raise Killed


@pytest.fixture
def dies(monkeypatch: pytest.MonkeyPatch) -> Callable[[Job], None]:
    """Runs a job and lets its process end once the model is asked."""

    def die(job: Job) -> None:
        claimed = job_claim(job_id=job.pk)
        assert claimed is not None
        with monkeypatch.context() as patch:
            patch.setattr(summary_model, "client_for", lambda *_: Deadly())
            with pytest.raises(Killed):
                claimed_run(job=claimed)
        died_waiting(job)

    return die


def test_a_crash_between_reservation_and_answer_is_one_call_and_is_spent(serve: Serve, dies: Callable[[Job], None]) -> None:
    server = serve()
    session = imported(talk(6))
    job = opened(session, summarizer="anthropic")
    dies(job)
    assert list(SummaryCall.objects.values_list("state", flat=True)) == ["reserved"]
    calls_sweep()
    assert finished(Job.objects.get(pk=job.pk)).state == "succeeded"
    told = list(SummaryCall.objects.order_by("number").values_list("state", "cost_nano"))
    assert told == [("lost", None), ("answered", 1_300_000)]
    lost = SummaryCall.objects.get(state="lost")
    left = summary_plan(session=session, asked=SummaryAsked(summarizer="anthropic", to_call=5)).caps_left
    assert left is not None
    assert left.session == 10**9 - 1_300_000 - (lost.reserved_nano or 0)
    assert len(server.requests) == 1


def test_a_job_that_crashes_twice_has_no_call_left_and_says_so(serve: Serve, dies: Callable[[Job], None]) -> None:
    server = serve()
    job = opened(imported(talk(6)), summarizer="anthropic")
    dies(job)
    dies(job)
    job = finished(Job.objects.get(pk=job.pk))
    assert job.error is not None
    assert (job.state, job.error["code"]) == ("failed", "no_calls_left")
    assert "(lost, then lost)" in job.error["message"]
    assert server.requests == []


def test_a_time_that_the_provider_names_is_kept_by_the_workers(serve: Serve) -> None:
    server = serve("429_short", "good")
    job = opened(imported(talk(6)), summarizer="anthropic")
    job_run(job_id=job.pk)
    job.refresh_from_db()
    assert job.state == "queued"
    assert job.run_after is not None
    assert 0 < (job.run_after - timezone.now()).total_seconds() <= 1
    job_run(job_id=job.pk)
    assert len(server.requests) == 1, "a stray ring comes too early"
    Job.objects.filter(pk=job.pk).update(run_after=timezone.now())
    job_run(job_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("succeeded", None)


def test_summaries_have_a_number_of_workers_of_their_own(serve: Serve, settings: Any) -> None:
    serve()
    session = imported(talk(6))
    first, second = opened(session, summarizer="anthropic"), opened(session)
    assert job_claim(job_id=first.pk) is not None
    job_run(job_id=second.pk)
    second.refresh_from_db()
    assert second.state == "queued"
    settings.CTXWEB_CONCURRENT_SUMMARIES = 2
    job_run(job_id=second.pk)
    second.refresh_from_db()
    assert second.state == "succeeded"


def test_a_breaker_that_opens_between_asking_and_working_fails_the_job_without_a_call(serve: Serve) -> None:
    server = serve("401")
    session = imported(talk(6))
    jobs = [opened(session, summarizer="anthropic", focus=focus) for focus in "abcd"]
    assert [finished(job).state for job in jobs] == ["failed"] * 4
    last = jobs[-1].error
    assert last is not None
    assert last["code"] == "breaker_open"
    assert "failed 3 times in a row, last with unauthorized" in last["message"]
    assert len(server.requests) == 3
    with pytest.raises(SummaryRefused, match="is not called before"):
        opened(session, summarizer="anthropic", focus="e")
    assert summarised(session).state == "succeeded", "the extract asks nobody"


@pytest.mark.parametrize(("dollars", "code"), [(None, "price_unknown"), ("1000", "session_cap")])
def test_a_model_without_a_price_or_above_a_cap_is_not_asked(serve: Serve, settings: Any, dollars: str | None, code: str) -> None:
    server = serve()
    settings.CTXWEB_MODEL_PRICES = {} if dollars is None else prices(dollars)
    session = imported(talk(6))
    with pytest.raises(SummaryRefused) as refused:
        opened(session, summarizer="anthropic")
    assert refused.value.code == code
    assert server.requests == []


def test_a_prompt_above_its_share_of_the_window_is_not_sent(serve: Serve, settings: Any) -> None:
    server = serve()
    session = imported(talk(6))
    tokens = summary_plan(session=session, asked=SummaryAsked(summarizer="anthropic")).input_tokens
    settings.CTXWEB_SUMMARY_INPUT_SHARE = 1
    settings.CTXWEB_MODEL_WINDOW = tokens
    job = opened(session, summarizer="anthropic")
    server.counts = tokens + 1
    finished(job)
    assert job.error is not None
    assert job.error["code"] == "input_too_long", "the provider's own count is more"
    settings.CTXWEB_MODEL_WINDOW = tokens - 1
    with pytest.raises(SummaryRefused, match="choose fewer calls"):
        opened(session, summarizer="anthropic")
    assert server.requests == []


def test_a_count_of_the_provider_makes_the_reservation_exact(serve: Serve) -> None:
    server = serve()
    server.counts = 5_000
    assert summarised(imported(talk(6)), summarizer="anthropic").state == "succeeded"
    call = SummaryCall.objects.get()
    assert (call.input_tokens, call.input_exact, call.reserved_nano) == (5_000, True, (5_000 + 4_096) * 1_000)


def test_what_changed_since_somebody_asked_is_not_summarised(serve: Serve, settings: Any) -> None:
    server = serve()
    job = opened(imported(talk(6)), summarizer="anthropic")
    settings.CTXWEB_ANTHROPIC_MODEL = "another"
    settings.CTXWEB_MODEL_PRICES = {"another": prices("1")[MODEL]}
    finished(job)
    assert job.error is not None
    assert job.error["code"] == "model_changed"
    assert server.requests == []


def test_a_session_that_grew_meanwhile_is_summarised_as_it_was_asked_for(serve: Serve) -> None:
    serve()
    job = opened(imported(talk(6)), summarizer="anthropic")
    imported(talk(8))
    assert finished(job).state == "succeeded"
    assert Summary.objects.get().to_call == 6


def test_a_trial_plants_canaries_and_stands_for_nothing(serve: Serve) -> None:
    server = serve()
    session = imported(talk(6))
    assert summarised(session, summarizer="anthropic", canaries=6).state == "succeeded"
    summary = Summary.objects.get()
    assert summary.state == "trial"
    assert len(summary.canaries) == 6
    assert all(canary["sentence"] in server.requests[0].raw.decode() for canary in summary.canaries)
    assert summary_plan(session=session, asked=SummaryAsked(is_incremental=True)).parent == ""


def test_the_sweep_counts_what_nobody_waits_for_as_lost(serve: Serve, dies: Callable[[Job], None]) -> None:
    serve()
    job = opened(imported(talk(6)), summarizer="anthropic")
    dies(job)
    Job.objects.filter(pk=job.pk).update(state="cancelled")
    jobs_sweep()
    assert SummaryCall.objects.get().state == "lost"


def test_a_range_whose_raw_records_are_damaged_or_gone_is_not_summarised(home: Home) -> None:
    session = imported(talk(6))
    assert session.current is not None
    path = blob_path(session.current.source.sha256)
    record = Record.objects.get(source=session.current.source, number=5)
    whole = path.read_bytes()
    path.write_bytes(whole[: record.offset + 5] + b"#" + whole[record.offset + 6 :])
    job = run(opened(session))
    assert job.error is not None
    assert (job.state, job.error["code"]) == ("failed", "archive_differs")
    assert "Record 5 " in job.error["message"]
    path.unlink()
    job = run(opened(session))
    assert job.error is not None
    assert (job.state, job.error["code"]) == ("failed", "archive_unreadable")
    path.write_bytes(whole)
    assert run(opened(session)).state == "succeeded"
    assert Summary.objects.count() == 1


def test_a_packed_source_is_checked_as_it_unpacks(home: Home) -> None:
    session = imported(gzip.compress(talk(6)), name="talk.jsonl.gz")
    assert summarised(session).state == "succeeded"


def test_a_rebuild_leaves_summaries_and_their_texts_as_they_are(serve: Serve) -> None:
    serve()
    session = imported(talk(6))
    assert summarised(session, summarizer="anthropic").state == "succeeded"
    before = list(Summary.objects.values())
    text = Summary.objects.select_related("body").get().body.text
    assert rebuild(progress=lambda _: None).failed == ()
    assert list(Summary.objects.values()) == before
    assert Summary.objects.select_related("body").get().body.text == text
    assert SummaryCall.objects.count() == 1
    again = opened(Session.objects.get(public_id=session.public_id), summarizer="anthropic")
    assert again.state == "succeeded", "the rebuilt session has the same view"
