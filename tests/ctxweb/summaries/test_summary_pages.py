"""Making a summary from the pages: the dry run, the job with its calls, two summarizers side by side, and what is set up."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from ctxweb.home import Home
from ctxweb.models import Block, Breaker, Job, Project, Summary, SummaryCall
from tests.ctxweb.summaries.models import MODEL, Serve
from tests.ctxweb.summaries.talks import finished, imported, opened, talk

pytestmark = pytest.mark.django_db(transaction=True)
MODELS = "anthropic"


def page(address: str, status: int = 200, **given: Any) -> str:
    answer = Client().get(address, given)
    assert answer.status_code == status, answer.content
    return answer.content.decode()


def texts(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def post(session: str, **given: Any) -> Any:
    return Client().post(f"/s/{session}/summarise", given)


def test_a_dry_run_says_what_it_would_take_and_writes_nothing(home: Home) -> None:
    session = imported(talk(12))
    said = texts(page(f"/s/{session.public_id}/summarise?from=2&to=9"))
    assert re.search(r"A summary of calls 2–9 would stand for \d+ blocks, [\d,]+ of the [\d,]+ exact tokens in the view of call 9\.", said)
    assert "by rules, nobody is asked" in said
    assert (Job.objects.filter(kind="summary").count(), Summary.objects.count()) == (0, 0)


def test_without_a_model_the_page_says_what_to_set_and_offers_the_extract(home: Home) -> None:
    session = imported(talk(12))
    html = page(f"/s/{session.public_id}/summarise?with={MODELS}")
    assert "set CTXWEB_ANTHROPIC_MODEL and CTXWEB_ANTHROPIC_API_KEY" in texts(html)
    assert "with=extractive" in html
    assert " disabled" in html
    assert post(session.public_id, **{"with": MODELS}).status_code == 422
    assert not Job.objects.filter(kind="summary").exists()


def test_a_model_is_told_with_its_host_its_price_and_the_caps(serve: Serve) -> None:
    server = serve("good")
    session = imported(talk(12))
    said = texts(page(f"/s/{session.public_id}/summarise?with={MODELS}"))
    assert f"{MODEL} at {server.url.removeprefix('http://')}" in said
    assert "only prefix can reuse the provider’s prefix cache" in said
    assert re.search(r"costs ≈ \$0\.\d+ a call at most, two calls at most", said)
    assert "$1.0000 of the session, $10.0000 today, $100.0000 of the project" in said
    assert server.requests == []


def test_what_can_never_be_is_refused_with_its_field(home: Home) -> None:
    session = imported(talk(3))
    assert "to_call is 99: give 1 to 3." in page(f"/s/{session.public_id}/summarise", status=422, to=99)
    assert "canaries is 9,999: give 0 to 200." in page(f"/s/{session.public_id}/summarise", status=422, canaries=9_999)


def test_the_form_makes_a_job_whose_page_leads_to_the_checkpoint(home: Home) -> None:
    session = imported(talk(12))
    answer = post(session.public_id, to=9, focus="the open ports")
    job = Job.objects.get(kind="summary")
    assert answer.headers["Location"] == f"/jobs/{job.public_id}"
    assert "an extract by rules asks nobody" in texts(page(f"/jobs/{job.public_id}"))
    finished(job)
    assert f'href="/s/{session.public_id}/checkpoints/m1"' in page(f"/jobs/{job.public_id}")
    assert post(session.public_id, to=9, focus="the open ports").headers["Location"] == f"/jobs/{job.public_id}"


def test_a_job_tells_each_call_with_its_reason_and_its_money(serve: Serve) -> None:
    serve("500", "good")
    session = imported(talk(12))
    job = finished(opened(session, summarizer=MODELS))
    assert (job.state, SummaryCall.objects.filter(job=job).count()) == ("succeeded", 2)
    html = page(f"/jobs/{job.public_id}")
    said = texts(html)
    assert "2 of at most 2" in said
    assert "server error" in said and "answered 500" in said  # noqa: PT018  # one row tells both
    twin = Client().get(f"/api/v1/jobs/{job.public_id}").json()["summary"]
    assert [(call["number"], call["state"], call["code"], call["status"]) for call in twin["calls"]] == [
        (1, "failed", "server_error", 500),
        (2, "answered", "", None),
    ]
    assert twin["calls"][1]["usage"] == {"input_tokens": 800, "cache_read_tokens": 200, "cache_write_tokens": 0, "output_tokens": 300}
    assert twin["spent_nano"] == sum(call["cost_nano"] for call in twin["calls"])
    assert (twin["checkpoint"], twin["state"]) == ("m1", "kept")


def test_a_job_without_a_summary_has_no_such_part(home: Home) -> None:
    imported(talk(2))
    job = Job.objects.get(kind="import")
    assert Client().get(f"/api/v1/jobs/{job.public_id}").json()["summary"] is None
    assert 'id="calls"' not in page(f"/jobs/{job.public_id}")


def test_two_summarizers_are_compared_on_the_same_range(serve: Serve) -> None:
    serve("good")
    session = imported(talk(14))
    answer = post(session.public_id, to=12, against="openai_compatible", **{"with": "extractive"})
    address = answer.headers["Location"]
    jobs = list(Job.objects.filter(kind="summary").order_by("pk"))
    assert address == f"/s/{session.public_id}/summarise/{jobs[0].public_id}..{jobs[1].public_id}"
    assert "at work on the same range" in page(address)
    for job in jobs:
        finished(job)
    html = page(address)
    assert "hx-trigger" not in html.split('id="comparison"')[1].split(">")[0]
    assert f"/s/{session.public_id}/checkpoints/m1..m2" in html
    assert Summary.objects.values_list("range_sha256", flat=True).distinct().count() == 1
    other = imported(talk(3, key="other"), "other.jsonl")
    assert Client().get(address.replace(session.public_id, other.public_id)).status_code == 404


def test_a_trial_with_canaries_is_told_as_one(home: Home) -> None:
    session = imported(talk(14))
    assert "the result tests the summarizer and is no checkpoint" in texts(page(f"/s/{session.public_id}/summarise", canaries=4))
    job = finished(opened(session, canaries=4))
    assert Summary.objects.get(job=job).state == "trial"
    assert re.search(r"trial\s+m1", texts(page(f"/jobs/{job.public_id}")))


def test_two_trials_side_by_side_count_their_canaries(serve: Serve) -> None:
    serve("good")
    session = imported(talk(14))
    address = post(session.public_id, against="openai_compatible", canaries=6).headers["Location"]
    for job in Job.objects.filter(kind="summary"):
        finished(job)
    planted = re.search(r"of canaries (\d+) (\d+)", texts(page(address)))
    assert planted is not None
    assert planted.groups() == ("6", "6")
    twin = (
        Client().get(f"/api/v1{address.replace('/s/', '/sessions/').replace('summarise', 'summaries').replace('..', '/against/')}").json()
    )
    assert [(side["canaries"], side["canaries_kept"] <= 6) for side in twin] == [(6, True), (6, True)]


def asking(**given: Any) -> bytes:
    """A session whose agent asks for compaction itself, with this input, in the answer of its fifth call."""
    lines = talk(8).split(b"\n")
    place = next(number for number, line in enumerate(lines) if b'"call": 5' in line and b"assistant" in line)
    told = json.loads(lines[place])
    told["blocks"][1] |= {"tool_name": "compact", "text": json.dumps(given)}
    lines[place] = json.dumps(told).encode()
    return b"\n".join(lines)


def test_a_view_and_the_request_of_an_agent_lead_to_a_summary_up_to_there(home: Home) -> None:
    session = imported(asking(focus="the open ports"))
    own = f"/s/{session.public_id}"
    place = Block.objects.get(revision=session.current_id, tool_name="compact", kind="tool_use")
    link = f'href="{own}/summarise?request={place.seq}.{place.i}"'
    assert f"{own}/summarise?to=4" in page(f"{own}/view/4")
    assert link not in page(f"{own}/view/4")
    assert link in page(f"{own}/view/6")
    assert link in page(f"{own}/b/{place.seq}.{place.i}")
    html = page(f"{own}/summarise", request=f"{place.seq}.{place.i}")
    assert "A summary of calls 1–6 would" in html
    assert all(f'name="{name}" value="{value}"' in html for name, value in (("to", "6"), ("focus", "the open ports"), ("trigger", "agent")))
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]+)">', html.split('method="post" action="/s/')[1]))
    job = finished(Job.objects.get(public_id=post(session.public_id, **fields).headers["Location"].removeprefix("/jobs/")))
    assert Summary.objects.values_list("trigger", "to_call", "job__params__asked__focus").get(job=job) == ("agent", 6, "the open ports")
    assert "A summary of calls 1–3 would" in page(f"{own}/summarise", request=f"{place.seq}.{place.i}", to=3)
    assert "A summary of calls 1–8 would" in page(f"{own}/summarise", request="1.1")
    assert Client().get(f"{own}/summarise", {"request": "nothing"}).status_code == 404


def test_settings_tell_who_may_write_and_what_was_spent(serve: Serve) -> None:
    serve("good")
    session = imported(talk(12))
    finished(opened(session, summarizer=MODELS))
    html = page("/settings")
    said = texts(html.split('id="models"')[1].split('id="folders"')[0])
    assert MODEL in said
    assert "key" not in re.findall(r"[a-z]+", said.replace("no key", ""))
    spent = SummaryCall.objects.get().cost_nano or 0
    assert f"${spent / 1e9:,.4f}" in said
    Breaker.objects.create(project=Project.objects.get(), summarizer=MODELS, model="other")
    assert "--prefix-summaries on" in said


def test_words_of_a_form_are_never_elements(home: Home) -> None:
    session = imported(talk(12))
    html = page(f"/s/{session.public_id}/summarise", focus='"><script>alert(1)</script>{{ 7 }}')
    assert "<script>alert" not in html
    assert "&quot;&gt;&lt;script&gt;alert(1)" in html
