"""A threshold is drawn, and map and ledger follow without a new page; the same without scripts."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, expect

from ctxweb.models import Session
from tests.browser.conftest import Watched

DRAG = """([id, value]) => {
  const range = document.querySelector(`[data-range="${id}"]`);
  range.value = value;
  range.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def test_a_threshold_that_is_drawn_changes_map_and_ledger_without_a_new_page(watched: Watched, long_session: Session) -> None:
    page = watched.page
    watched.go(f"/s/{long_session.public_id}/replay?trigger=30000&hard_limit=200000")
    page.evaluate("window.stays = true")
    before = page.locator("#plot-replayed .areas").inner_html()
    took = page.locator("#by-layer .balance").first.inner_text()
    expect(page.locator("[data-range='k-trigger']")).to_be_visible()
    page.evaluate(DRAG, ["k-trigger", "6000"])
    expect(page).to_have_url(re.compile(r"trigger=6000\b"))
    expect(page.locator("#k-trigger")).to_have_value("6000")
    expect(page.locator("#plot-replayed .areas")).not_to_have_js_property("innerHTML", before)
    expect(page.locator("#by-layer .balance").first).not_to_have_text(took)
    assert page.evaluate("window.stays") is True
    page.reload()
    expect(page.locator("#k-trigger")).to_have_value("6000")


def test_a_limit_that_cannot_be_is_refused_where_the_maps_were(watched: Watched, long_session: Session) -> None:
    page = watched.page
    watched.go(f"/s/{long_session.public_id}/replay?policy=dsh-basic")
    page.locator("#k-trigger").fill("7")
    expect(page.locator("#refused")).to_contain_text("trigger")
    page.locator("#k-trigger").fill("0.5")
    expect(page.locator("#plot-replayed")).to_be_visible()


def test_a_replay_is_kept_and_its_ledger_leads_back(watched: Watched, long_session: Session) -> None:
    page = watched.page
    watched.go(f"/s/{long_session.public_id}/replay?trigger=6000&hard_limit=200000")
    page.get_by_role("button", name="Keep this replay").click()
    expect(page).to_have_url(re.compile(r"/ledger\?h=[a-z0-9]+"))
    expect(page.locator(".histories [aria-current]")).to_contain_text("workbuddy-s14")
    page.locator(".histories a").first.click()
    expect(page).to_have_url(re.compile(r"/ledger$"))
    page.wait_for_load_state()


def test_the_form_replays_without_scripts(chromium: Browser, live_server: object, long_session: Session) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server}/s/{long_session.public_id}/replay")
    page.locator("#k-trigger").fill("6000")
    page.get_by_role("button", name="Replay", exact=True).click()
    expect(page).to_have_url(re.compile(r"trigger=6000"))
    expect(page.locator("#k-trigger")).to_have_value("6000")
    expect(page.locator("#plot-replayed")).to_be_visible()
    context.close()
