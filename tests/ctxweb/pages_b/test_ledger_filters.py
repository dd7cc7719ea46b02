"""The filters of the ledger: what they leave is listed, and none is lost on the way through the form."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from ctxweb.models import Compaction, History, Session
from tests.ctxweb.pages_b.rows import make_session

pytestmark = pytest.mark.django_db


def ledger(session: Session, query: str = "") -> str:
    return Client().get(f"/s/{session.public_id}/ledger{query}").content.decode()


def field(text: str, name: str) -> str:
    found = re.search(rf'<(select|input)[^>]* name="{name}"[^>]*>(.*?</select>)?', text, re.DOTALL)
    assert found is not None
    return found.group(0)


@pytest.fixture
def session() -> Session:
    return make_session(turns=7, name="a")


@pytest.fixture
def with_a_drop(session: Session) -> Session:
    history = History.objects.get(revision=session.current)
    Compaction.objects.create(
        history=history, ordinal=90, index=90, before_call=30, line=1, origin="inferred", mechanism="unknown", layer="unknown",
        trigger="unknown", status="ok", evidence={"amount": 5_000}, estimate_before=100, estimate_after=100, removed=0, added=0,
    )  # fmt: skip
    Session.objects.filter(pk=session.pk).update(inferred_drops=1)
    return session


def test_drops_without_a_record_are_listed_though_they_have_no_edits(with_a_drop: Session) -> None:
    text = ledger(with_a_drop, "?action=inferred")
    assert 'id="c90"' in text
    assert text.count('class="group tall"') == 1
    assert "No edit matches" not in text
    assert "1 drop in the reported size has no record." in text
    assert '<option value="inferred" selected>not recorded</option>' in field(text, "action")


def test_a_filter_by_what_an_edit_took_leaves_no_drop(with_a_drop: Session) -> None:
    text = ledger(with_a_drop, "?action=inferred&kind=text")
    assert 'class="group tall"' not in text
    assert "No edit matches these filters" in text


def test_the_layers_to_choose_from_are_those_of_the_whole_ledger(session: Session) -> None:
    for query in ("?action=inferred", "?action=spill", "?layer=summary"):
        layers = field(ledger(session, query), "layer")
        assert 'value="summary"' in layers
        assert 'value="microcompact"' in layers


def test_a_compaction_asked_for_stays_when_the_form_is_sent(session: Session) -> None:
    text = ledger(session, "?compaction=2&kind=tool_result&sort=tokens")
    assert '<input type="hidden" name="compaction" value="2">' in text
    assert f'href="/s/{session.public_id}/ledger?kind=tool_result&amp;sort=tokens">compaction 2 ' in text
    assert "compaction 2 here" in text
    assert 'type="hidden"' not in ledger(session, "?kind=tool_result")


def test_a_window_is_full_of_compactions_that_the_filters_leave() -> None:
    long = make_session(turns=60, name="long")
    last = Compaction.objects.filter(mechanism="summary").order_by("ordinal").last()
    assert last is not None
    text = ledger(long, "?layer=summary")
    assert text.count('class="group tall"') == 10
    assert "10 compactions here" in text
    one = ledger(long, f"?compaction={last.ordinal}&layer=summary")
    assert f'id="c{last.ordinal}"' in one


def test_counts_agree_with_their_words_and_estimates_carry_their_sign(session: Session) -> None:
    text = ledger(session, "?compaction=1")
    assert "made 1 matching edit in 1 compaction" in text
    assert '<td class="num">≈\u200910' in text
