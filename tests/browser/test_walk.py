"""The way of a person who debugs a loss of context: with the mouse, with the keyboard, and without scripts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from ctxweb.models import Session
from tests.browser.conftest import Watched, demo_file

DROP_A_FILE = """
([name, bytes]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([new Uint8Array(bytes)], name));
  const event = (kind) => new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true });
  document.body.dispatchEvent(event("dragover"));
  document.body.dispatchEvent(event("drop"));
}
"""


@pytest.mark.django_db(transaction=True)
def test_from_a_dropped_file_over_a_drop_and_a_block_back_to_the_map(watched: Watched) -> None:
    page = watched.page
    watched.go("/")
    page.evaluate(DROP_A_FILE, ["long.jsonl", list(demo_file("long"))])
    page.wait_for_selector("table.sessions")
    page.locator("table.sessions td.name a").first.click()
    expect(page.locator("#plot-frame")).to_be_visible()
    page.locator(".track.tall a").first.click()
    expect(page).to_have_url(re.compile(r"/ledger\?compaction=\d+"))
    page.wait_for_load_state()
    page.locator("main [data-removal] a").first.click()
    expect(page).to_have_url(re.compile(r"/b/\d+\.\d+"))
    page.wait_for_load_state()
    page.go_back()
    page.go_back()
    expect(page.locator("#plot-frame")).to_be_visible()


def test_the_map_follows_the_pointer_and_a_click_selects(watched: Watched, long_session: Session) -> None:
    page = watched.page
    watched.go(f"/s/{long_session.public_id}/?call=1")
    box = page.locator(".plot").bounding_box()
    assert box is not None
    middle = round(long_session.call_count / 2)
    place = {"x": box["width"] * (middle - 0.5) / long_session.call_count, "y": 20}
    page.locator(".plot").hover(position=place)  # type: ignore[arg-type]
    expect(page.locator("#readout .hd").first).to_contain_text(f"Call {middle}")
    page.mouse.move(5, 5)
    expect(page.locator("#readout .hd").first).to_contain_text("Call 1")
    page.mouse.click(box["x"] + place["x"], box["y"] + place["y"])
    expect(page).to_have_url(re.compile(rf"call={middle}\b"))
    page.wait_for_load_state()
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", str(middle))


def test_the_same_way_without_a_mouse(watched: Watched, long_session: Session) -> None:
    page = watched.page
    watched.go("/")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#plot-frame")).to_be_visible()
    page.wait_for_load_state()
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    expect(page).to_have_url(re.compile(r"call=1\b"))
    page.wait_for_load_state()
    page.keyboard.press("n")
    first = page.locator("#plot-frame").get_attribute("data-drops")
    assert first is not None
    expect(slider).to_have_attribute("aria-valuenow", first.split()[0])
    expect(page.locator("#readout .hd").first).to_contain_text(f"Call {first.split()[0]} ")
    page.keyboard.press("Shift+ArrowRight")
    expect(slider).to_have_attribute("aria-valuenow", str(min(int(first.split()[0]) + 10, long_session.call_count)))
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("l")
    expect(page).to_have_url(re.compile(r"/ledger"))
    page.wait_for_load_state()
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/b/\d+\.\d+"))
    page.wait_for_load_state()
    page.keyboard.press("g")
    page.keyboard.press("o")
    expect(page.locator("#plot-frame")).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("/")
    page.keyboard.type("test")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/search\?q=test"))
    page.wait_for_load_state()


def test_enter_on_the_map_opens_the_view_of_its_call(watched: Watched, long_session: Session) -> None:
    page = watched.page
    watched.go(f"/s/{long_session.public_id}/?call=3")
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/view/4$"))
    page.wait_for_load_state()


def test_commas_and_points_step_from_call_to_call(watched: Watched, long_session: Session) -> None:
    page = watched.page
    watched.go(f"/s/{long_session.public_id}/?call=3")
    page.keyboard.press(".")
    expect(page.locator("#readout .hd").first).to_contain_text("Call 4")
    page.keyboard.press(",")
    page.wait_for_timeout(300)
    page.keyboard.press(",")
    expect(page.locator("#readout .hd").first).to_contain_text("Call 2")
    expect(page).to_have_url(re.compile(r"call=2\b"))
    page.wait_for_load_state()


def test_a_switch_redraws_the_map_alone_and_rides_on_the_address(watched: Watched, long_session: Session) -> None:
    page = watched.page
    watched.go(f"/s/{long_session.public_id}/?call=3")
    page.evaluate("window.stays = true")
    page.get_by_role("link", name="by kind").click()
    expect(page).to_have_url(re.compile(r"stack=kind"))
    page.wait_for_load_state()
    expect(page.locator("#plot-frame")).to_have_attribute("data-stack", "kind")
    assert page.evaluate("window.stays") is True
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"stack=kind&call=4"))
    page.wait_for_load_state()


def test_keys_are_listed_and_do_nothing_while_one_types(watched: Watched, long_session: Session) -> None:
    page = watched.page
    watched.go(f"/s/{long_session.public_id}/")
    page.keyboard.press("?")
    expect(page.locator("dialog.keys")).to_be_visible()
    expect(page.locator("dialog.keys")).to_contain_text("Ledger")
    page.keyboard.press("Escape")
    page.locator("#find").focus()
    page.keyboard.type("g l ?")
    expect(page.locator("#find")).to_have_value("g l ?")
    expect(page.locator("dialog.keys")).not_to_be_visible()


def test_the_theme_is_chosen_and_kept(watched: Watched) -> None:
    page = watched.page
    page.emulate_media(color_scheme="light")
    watched.go("/")
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("button", name="Theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    watched.go("/search")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.django_db(transaction=True)
def test_without_scripts_everything_is_there_plainer(chromium: Browser, live_server: Any, worker: None, tmp_path: Any) -> None:
    file = tmp_path / "long.jsonl"
    file.write_bytes(demo_file("long"))
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(live_server.url)
    page.set_input_files("#files", file)
    page.get_by_role("button", name="Import files").click()
    assert re.search(r"/s/[a-z0-9]+/$", page.url)
    column = page.locator(".columns a").first
    page.goto(page.url + str(column.get_attribute("href")))
    assert "Call " in page.locator("#readout").inner_text()
    page.get_by_role("link", name="Table", exact=True).click()
    assert page.locator("table.grid tbody tr").count() > 5
    context.close()
