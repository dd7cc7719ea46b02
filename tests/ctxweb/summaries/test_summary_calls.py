"""No call is made beyond a cap, a budget or an open breaker, whoever asks at the same time; what nobody answered counts as spent."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connections, transaction
from django.utils import timezone

from ctxweb.jobs import job_claim, job_open
from ctxweb.models import LOCAL, Breaker, Job, SummaryCall
from ctxweb.services.summary_breaker import OPEN_SECONDS, breaker_state
from ctxweb.services.summary_calls import (
    NANO,
    CallAsked,
    CallRefused,
    call_answered,
    call_failed,
    call_reserve,
    calls_lose,
    calls_sweep,
    caps_left,
    codes_of_round,
)

CAPS = {"SESSION": 1, "DAY": 2, "PROJECT": 4}


@pytest.fixture(autouse=True)
def caps(settings: Any) -> None:
    for name, dollars in CAPS.items():
        setattr(settings, f"CTXWEB_SUMMARY_{name}_CAP_USD", dollars)


def at_work(key: str = "a", session: str = "talk") -> Job:
    job = job_open(kind="summary", key=key * 64, params={"project": LOCAL, "session": session})
    return job_claim(job_id=job.pk) or job


def asked(nano: int = 0, model: str = "m") -> CallAsked:
    return CallAsked(
        summarizer="anthropic", model=model, shape="framed", input_tokens=10, input_exact=True, most_output_tokens=5, nano=nano
    )


def reserve(job: Job, nano: int = 0, *, now: datetime | None = None, model: str = "m") -> SummaryCall:
    with transaction.atomic():
        return call_reserve(job=job, asked=asked(nano, model), now=now)


def refusal(job: Job, nano: int = 0, *, now: datetime | None = None) -> str:
    with pytest.raises(CallRefused) as refused:
        reserve(job, nano, now=now)
    return refused.value.code


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "code"), [("SESSION", "session_cap"), ("DAY", "day_cap"), ("PROJECT", "project_cap")])
@pytest.mark.parametrize("spent_as", ["reserved", "answered", "lost"])
def test_a_cap_is_reached_by_its_last_nano_dollar_and_not_passed_by_one(settings: Any, name: str, code: str, spent_as: str) -> None:
    for other in CAPS:
        setattr(settings, f"CTXWEB_SUMMARY_{other}_CAP_USD", 100)
    setattr(settings, f"CTXWEB_SUMMARY_{name}_CAP_USD", 1)
    first = at_work("a")
    spent = reserve(first, NANO // 4)
    if spent_as == "answered":
        call_answered(call=spent, usage={}, cost_nano=NANO // 4)
    elif spent_as == "lost":
        Job.objects.filter(pk=first.pk).update(state="queued")
        assert calls_sweep() == 1
    second = at_work("b")
    assert refusal(second, NANO * 3 // 4 + 1) == code
    assert codes_of_round(job=second) == []
    reserve(second, NANO * 3 // 4 - 1)
    assert refusal(at_work("c"), 2) == code
    reserve(at_work("d"), 1)
    assert getattr(caps_left(project=LOCAL, session="talk", now=timezone.now()), name.lower()) == 0


@pytest.mark.django_db
def test_each_cap_counts_what_it_is_of() -> None:
    now = timezone.now()
    reserve(at_work("a", session="another"), NANO, now=now - timedelta(days=2))
    left = caps_left(project=LOCAL, session="talk", now=now)
    assert (left.session, left.day, left.project) == (NANO, 2 * NANO, 3 * NANO)


@pytest.mark.django_db
def test_a_refused_call_says_what_is_left_and_what_to_set() -> None:
    with pytest.raises(CallRefused, match=r"\$1\.5000 and \$1\.0000 are left of the cap of this session.*CTXWEB_SUMMARY_SESSION_CAP_USD"):
        reserve(at_work(), 3 * NANO // 2)


@pytest.mark.django_db(transaction=True)
def test_two_calls_that_would_pass_the_cap_together_are_not_both_made() -> None:
    jobs = [at_work(key) for key in "abcd"]
    start = threading.Barrier(len(jobs))

    def run(job: Job) -> str:
        try:
            start.wait(10)
            reserve(job, NANO * 6 // 10)
        except CallRefused as refused:
            return refused.code
        finally:
            connections.close_all()
        return "made"

    with ThreadPoolExecutor(len(jobs)) as pool:
        assert sorted(pool.map(run, jobs)) == ["made", "session_cap", "session_cap", "session_cap"]
    assert SummaryCall.objects.count() == 1


@pytest.mark.django_db
def test_a_failed_call_that_nobody_billed_gives_its_reservation_back_and_one_of_unknown_cost_does_not() -> None:
    job = at_work()
    call_failed(call=reserve(job, NANO // 2), code="unauthorized", message="m", status=401, cost_nano=0)
    assert caps_left(project=LOCAL, session="talk", now=timezone.now()).session == NANO
    call_failed(call=reserve(job, NANO // 2), code="timeout_read", message="m")
    assert caps_left(project=LOCAL, session="talk", now=timezone.now()).session == NANO // 2


@pytest.mark.django_db
def test_a_job_has_two_calls_and_a_lost_one_is_one_of_them() -> None:
    job = at_work()
    reserve(job)
    Job.objects.filter(pk=job.pk).update(state="queued")
    again = job_claim(job_id=job.pk)
    assert again is not None
    calls_lose(job=again)
    assert list(SummaryCall.objects.values_list("state", "code")) == [("lost", "lost")]
    call_failed(call=reserve(again), code="reset", message="m")
    with pytest.raises(CallRefused, match=r"\(lost, then reset\)"):
        reserve(again)


@pytest.mark.django_db
def test_a_job_that_a_person_starts_again_has_two_calls_again_and_their_numbers_go_on() -> None:
    job = at_work()
    reserve(job)
    reserve(job)
    Job.objects.filter(pk=job.pk).update(state="failed")
    again = at_work()
    assert again.pk == job.pk
    assert codes_of_round(job=again) == []
    reserve(again)
    assert list(SummaryCall.objects.order_by("number").values_list("number", flat=True)) == [1, 2, 3]


@pytest.mark.django_db
def test_the_sweep_tells_lost_calls_from_those_in_flight() -> None:
    in_flight = reserve(at_work("a"))
    ended = at_work("b")
    lost = reserve(ended)
    Job.objects.filter(pk=ended.pk).update(state="cancelled")
    assert calls_sweep() == 1
    in_flight.refresh_from_db()
    lost.refresh_from_db()
    assert (in_flight.state, lost.state) == ("reserved", "lost")


@pytest.mark.django_db
def test_a_lost_call_may_still_be_told_of_and_a_settled_one_is_settled_once() -> None:
    job = at_work()
    call = reserve(job, NANO)
    Job.objects.filter(pk=job.pk).update(state="queued")
    calls_sweep()
    call_answered(call=call, usage={"input_tokens": 1}, cost_nano=5)
    call_failed(call=call, code="reset", message="m", cost_nano=7)
    call.refresh_from_db()
    assert (call.state, call.cost_nano, call.code) == ("answered", 5, "")


@pytest.fixture
def failing() -> Callable[..., None]:
    """Lets that many calls fail with a code, each of a job of its own."""
    made = iter("efghijklmnop")

    def fail(times: int, code: str = "server_error") -> None:
        for _ in range(times):
            call_failed(call=reserve(at_work(next(made))), code=code, message="m")

    return fail


@pytest.mark.django_db
def test_three_failures_in_a_row_open_the_breaker_for_an_hour_and_then_one_probe_decides(failing: Callable[..., None]) -> None:
    failing(2)
    assert breaker_state(project=LOCAL, summarizer="anthropic", model="m", now=timezone.now()).is_closed
    failing(1)
    now = timezone.now()
    assert refusal(at_work("a"), now=now) == "breaker_open"
    assert refusal(at_work("a"), now=now + timedelta(seconds=OPEN_SECONDS - 60)) == "breaker_open"
    reserve(at_work("a"), now=now, model="another")
    later = now + timedelta(seconds=OPEN_SECONDS + 60)
    probe = reserve(at_work("a"), now=later)
    with pytest.raises(CallRefused, match="one call of another job finds out"):
        reserve(at_work("b"), now=later)
    call_failed(call=probe, code="overloaded", message="m")
    assert refusal(at_work("b"), now=timezone.now()) == "breaker_open"
    Breaker.objects.update(open_until=timezone.now() - timedelta(seconds=1))
    call_answered(call=reserve(at_work("b")), usage={}, cost_nano=0)
    assert breaker_state(project=LOCAL, summarizer="anthropic", model="m", now=timezone.now()).failures == 0
    reserve(at_work("c"))
    reserve(at_work("d"))


@pytest.mark.django_db
def test_an_answer_between_failures_begins_the_count_anew(failing: Callable[..., None]) -> None:
    failing(2)
    call_answered(call=reserve(at_work("a")), usage={}, cost_nano=0)
    failing(2)
    reserve(at_work("b"))


@pytest.mark.django_db
def test_who_gives_up_or_asks_too_much_says_nothing_about_the_model(failing: Callable[..., None]) -> None:
    failing(2, "cancelled")
    failing(2, "input_too_long")
    reserve(at_work("a"))


@pytest.mark.django_db
def test_a_probe_that_died_is_over_with_its_lease(failing: Callable[..., None]) -> None:
    failing(3)
    later = timezone.now() + timedelta(seconds=OPEN_SECONDS + 1)
    reserve(at_work("a"), now=later)
    assert refusal(at_work("b"), now=later) == "breaker_open"
    reserve(at_work("b"), now=later + timedelta(seconds=300))
