"""The overview: map, readout, story, what became of it, in any size."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxweb.lane_rows import stored_map
from ctxweb.models import Block, Compaction, History, LedgerEntry, ModelCall, Session
from ctxweb.queries.overview import overview_page
from ctxweb.queries.readout import view_sums
from ctxweb.services.importing.figures import figures_of
from tests.ctxweb.pages_b.rows import make_session

pytestmark = pytest.mark.django_db
HOSTILE = '</title><script>alert(1)</script>" onload="x \u202e'


def drawn(session: Session) -> Session:
    """With the stored map that an import leaves."""
    history = History.objects.get(revision=session.current_id)
    stored = stored_map(history=history)
    history.bins = stored.bins
    history.save()
    session.spark = stored.spark
    session.save()
    return session


def address(session: Session) -> str:
    return f"/s/{session.public_id}/"


def test_the_page_says_what_was_taken_and_draws_it(client: Client) -> None:
    session = drawn(make_session(turns=7))
    page = client.get(address(session)).content.decode()
    assert f"2 summaries took {session.removed_blocks} blocks, 4 results were cleared.</b>" in page
    assert "The prompt went" in page
    assert 'class="areas" viewBox="0 0 35 310"' in page
    assert "A summary of" in page
    assert "Results cleared:" in page
    assert "What became of it" in page
    assert f'href="/api/v1/sessions/{session.public_id}?call=' in page


def test_what_a_person_took_back_and_what_was_cleared_is_no_block_taken(client: Client) -> None:
    session = drawn(make_session(turns=7))
    last = LedgerEntry.objects.filter(verb="summarise", adds=False).order_by("-ordinal")[0].compaction
    taken, own = (LedgerEntry.objects.filter(adds=False, state_after="", compaction=each).count() for each in _summaries())
    Compaction.objects.filter(pk=last.pk).update(mechanism="rewind")
    Compaction.objects.filter(mechanism="clear_tool_result").last().delete()  # type: ignore[union-attr]
    revision = session.current
    assert revision is not None
    figures = figures_of(revision=revision)
    assert figures["removed_blocks"] == taken
    Session.objects.update(removed_blocks=figures["removed_blocks"])
    page = client.get(address(session)).content.decode()
    assert f"1 summary took {taken} blocks, 3 results were cleared.</b>" in page
    assert f"{own} blocks went by the person’s own hand." in page
    assert f"{taken} removed" in page


def test_a_drop_without_a_record_takes_no_counted_block(client: Client) -> None:
    session = drawn(make_session(turns=3))
    Compaction.objects.filter(mechanism="clear_tool_result").first().delete()  # type: ignore[union-attr]
    Compaction.objects.update(origin="inferred", mechanism="unknown")
    LedgerEntry.objects.all().delete()
    Session.objects.update(removed_blocks=0)
    assert "<b>1 drop has no record.</b>" in client.get(address(session)).content.decode()


def _summaries() -> list[Compaction]:
    return list(Compaction.objects.filter(mechanism="summary").order_by("ordinal"))


def test_every_compaction_of_the_story_leads_to_its_call_and_its_edits(client: Client) -> None:
    session = drawn(make_session(turns=4))
    page = client.get(address(session)).content.decode()
    for row in Compaction.objects.all():
        assert f'href="/s/{session.public_id}/view/{row.before_call}"' in page
        assert f'href="/s/{session.public_id}/ledger?compaction={row.ordinal}"' in page


def test_the_readout_adds_up_to_the_reported_size() -> None:
    session = drawn(make_session(turns=5))
    history = History.objects.get()
    for call in ModelCall.objects.all():
        page = overview_page(session=session, history=history, call=call.n, stack=None)
        assert page.selected is not None
        assert page.selected.call == call.n
        assert sum(row.tokens for row in page.selected.categories) == call.prompt_tokens
        assert sum(view_sums(history, call.n).values()) == call.estimate


def test_a_call_that_is_not_there_gives_the_largest(client: Client) -> None:
    session = drawn(make_session(turns=2))
    for wrong in ("0", "999", "-1", "x", "9" * 40):
        assert client.get(f"{address(session)}?call={wrong}").status_code == 200


def test_a_foreign_session_answers_like_a_missing_one(client: Client) -> None:
    assert client.get("/s/nosuchsession000/").status_code == 404


@pytest.mark.parametrize("stack", ["order", "kind"])
def test_the_page_is_small_and_its_queries_are_as_many_in_any_size(client: Client, stack: str) -> None:
    counts = []
    for name, turns in (("a", 8), ("b", 60), ("c", 130)):
        session = drawn(make_session(turns=turns, name=name))
        with CaptureQueriesContext(connection) as queries:
            page = client.get(f"{address(session)}?stack={stack}").content
        counts.append(len(queries))
        assert len(page) < 100_000
        assert len(re.findall(rb"<[a-z]", page)) < 5_000
    assert counts[0] == counts[1]
    assert counts[2] <= counts[0]


def test_htmx_gets_the_map_or_the_readout_alone(client: Client) -> None:
    session = drawn(make_session(turns=2))
    for target, first in (("map", b'<section class="card" aria-labelledby="map-title"'), ("readout", b'<div class="hd">')):
        answer = client.get(f"{address(session)}?call=3", headers={"HX-Request": "true", "HX-Target": target})
        assert answer.content.startswith(first)
    missing = client.get(f"{address(session)}?call=999", headers={"HX-Request": "true", "HX-Target": "readout"})
    assert missing.status_code == 404


def test_the_table_twin_has_the_figures_of_the_calls(client: Client) -> None:
    session = drawn(make_session(turns=30))
    page = client.get(f"{address(session)}?as=table").content.decode()
    rows = re.findall(r'view/(\d+)">[^<]*</a></td><td class="num">([\d,]+)', page)
    assert len(rows) == 100
    for n, reported in rows:
        assert ModelCall.objects.get(n=n).prompt_tokens == int(reported.replace(",", ""))
    assert "as=table&amp;after=100" in page
    assert len(page) < 100_000


def test_a_long_lane_is_drawn_from_its_stored_bins(client: Client) -> None:
    session = drawn(make_session(turns=130))
    page = client.get(address(session)).content.decode()
    assert "bins; each shows its highest call" in page
    assert "data-starts=" in page
    assert "prompt order" not in page


def test_transcript_text_stays_text_on_the_page(client: Client) -> None:
    session = drawn(make_session(turns=3, text=HOSTILE))
    Block.objects.exclude(tool_id="").update(path=f"src/{HOSTILE}", tool_name=HOSTILE)
    Session.objects.update(model=HOSTILE, cwd=HOSTILE, producer_version=HOSTILE)
    for path in (address(session), "/", "/search?q=alert"):
        page = client.get(path).content.decode()
        assert "<script>alert" not in page
        assert '" onload="x' not in page
        assert "\u202e" not in re.sub(r'value="[^"]*"', "", page)  # a filter's value must stay what it is
        assert "\\u202e" in page


def test_what_is_unknown_is_said(client: Client) -> None:
    session = drawn(make_session(turns=2))
    ModelCall.objects.update(prompt_tokens=None, cache_read_tokens=None, unexplained=None)
    Compaction.objects.update(reported_before=None, reported_after=None, unexplained_after=None)
    page = client.get(address(session)).content.decode()
    assert "no size that the provider reported" in page
    assert "tokens estimated" in page
    assert "cached</div>" not in page


def test_a_file_that_begins_in_the_middle_is_announced(client: Client) -> None:
    session = drawn(make_session(turns=2))
    ModelCall.objects.update(prompt_tokens=120_000)
    page = client.get(address(session)).content.decode()
    assert "starts in the middle of a conversation" in page
    assert "before this file" in page


def test_the_size_of_a_file_that_lanes_share_is_not_said_to_be_that_of_a_lane(client: Client) -> None:
    session = drawn(make_session(turns=2))
    whole = client.get(address(session)).content.decode()
    assert re.search(r"</b> records, <b>[^<]+</b></span>", whole)
    Session.objects.update(record_count=1)
    part = client.get(address(session)).content.decode()
    assert re.search(r"<b>1</b> record of a file of <b>[^<]+</b></span>", part)


def test_estimates_that_surpass_the_report_by_next_to_nothing_are_no_news(client: Client) -> None:
    session = drawn(make_session(turns=2))
    call = ModelCall.objects.get(n=3)
    said = "than the provider counted"
    for less, news in ((1, False), (call.prompt_tokens // 2, True)):  # type: ignore[operator]
        ModelCall.objects.filter(n=3).update(prompt_tokens=call.prompt_tokens - less)  # type: ignore[operator]
        page = client.get(f"{address(session)}?call=3").content.decode()
        assert (said in page) is news
        assert "−0.0" not in page


def test_a_lane_without_calls_has_no_map_but_a_way_on(client: Client) -> None:
    session = make_session(turns=1)
    ModelCall.objects.all().delete()
    Session.objects.update(call_count=0)
    page = client.get(address(session)).content.decode()
    assert "No model call in this lane" in page
    assert f'href="/s/{session.public_id}/messages"' in page


def test_the_twin_has_the_counts_and_the_readout(client: Client) -> None:
    session = drawn(make_session(turns=4))
    twin = client.get(f"/api/v1/sessions/{session.public_id}?call=3").json()
    assert twin["model_calls"] == 20
    assert twin["call"]["reported"] == ModelCall.objects.get(n=3).prompt_tokens
    assert [row["origin"] for row in twin["histories"]] == ["recorded"]
    assert len(twin["happenings"]) == Compaction.objects.count()
    assert twin["warnings"][0]["code"] == "orphan_tool_result"
    calls = client.get(f"/api/v1/sessions/{session.public_id}/calls?limit=15").json()
    assert [row["n"] for row in calls["calls"]] == list(range(1, 16))
    rest = client.get(f"/api/v1/sessions/{session.public_id}/calls?after={calls['next']}").json()
    assert [row["n"] for row in rest["calls"]] == list(range(16, 21))
    assert rest["next"] is None
