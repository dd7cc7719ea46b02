"""Addresses agree with the URL patterns."""

from __future__ import annotations

import pytest
from django.urls import resolve

from ctxweb import addresses
from ctxweb.models import Session
from ctxweb.page import TABS, Chosen

pytestmark = pytest.mark.nodb
ID = "abcdefghijklmnopqrst"


@pytest.mark.parametrize(
    "address",
    [
        addresses.SESSIONS,
        addresses.IMPORT,
        addresses.SEARCH,
        addresses.JOBS,
        addresses.SETTINGS,
        addresses.overview(ID),
        addresses.messages(ID),
        addresses.view(ID, 3),
        addresses.ledger(ID),
        addresses.fate(ID, 12, 1),
        addresses.import_report(ID),
        addresses.body(ID, "0" * 32),
        addresses.job("0123456789abcdef"),
        addresses.api_sessions(),
        addresses.api_session(ID),
        addresses.api_session(ID, "calls"),
        addresses.api_session(ID, "messages"),
        addresses.api_history(f"{ID}r"),
        addresses.api_history(f"{ID}r", "ledger"),
        addresses.api_job("0123456789abcdef"),
        addresses.api_search("x").partition("?")[0],
    ],
)
def test_an_address_is_served(address: str) -> None:
    assert resolve(address).route is not None


def test_a_parameter_without_a_value_is_left_out() -> None:
    assert addresses.sessions(format="codex", project="", sort=None) == "/?format=codex"
    assert addresses.messages(ID, seq=12) == f"/s/{ID}/messages?around=12#m12"
    assert addresses.search(q="a b&c") == "/search?q=a+b%26c"


def test_every_tab_is_served_and_says_something() -> None:
    session = Session(public_id=ID, call_count=9, record_count=10, verdicts={"ok": 9, "invalid_json": 1}, message_count=5)
    chosen = Chosen(call=4, block="12.1")
    for tab in TABS:
        address = tab.address(session, chosen)
        assert address is not None
        assert resolve(address.partition("?")[0]).route is not None
        assert tab.answer(session, chosen)


def test_the_fate_tab_appears_with_a_block_and_an_odd_record_is_an_alert() -> None:
    session = Session(public_id=ID, record_count=10, verdicts={"ok": 8, "blank": 1, "invalid_json": 1})
    tabs = {tab.id: tab for tab in TABS}
    assert tabs["fate"].address(session, Chosen()) is None
    assert tabs["view"].address(session, Chosen()) is None
    assert tabs["import"].alert(session, Chosen())
    assert tabs["import"].answer(session, Chosen()) == "9 of 10"
    assert not tabs["import"].alert(Session(record_count=3, verdicts={"ok": 3}), Chosen())
