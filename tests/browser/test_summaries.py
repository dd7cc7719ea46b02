"""A summary from the page to the message that it lost, against the served product, a worker and a model's server."""

from __future__ import annotations

import json
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Watched
from tests.browser.test_accessibility import faults
from tests.ctxweb.summaries.talks import checkpoint, talk
from tests.model_server import ModelServer, model_server
from tests.program import Program, free_port

WAIT_SECONDS = 120  # a bound against hanging
CALLS = 14
RULE = "you must keep port 5403 open"


@contextmanager
def served(program: Program, model: ModelServer) -> Iterator[str]:
    """`manage.py serve` with its worker, set up to ask this model; its address."""
    port = free_port()
    prices = json.dumps({"tested": {"input": 1, "output": 2}})
    extra = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "key", "ANTHROPIC_MODEL": "tested", "MODEL_PRICES": prices}
    extra = {f"CTXWEB_{name}": value for name, value in extra.items()} | {"CTXWEB_MODEL_WINDOW": "200000"}
    process = program.start("serve", "--port", str(port), extra=extra)
    try:
        wait_healthy(f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=WAIT_SECONDS)


def wait_healthy(base: str) -> None:
    ends = monotonic() + WAIT_SECONDS
    while monotonic() < ends:
        try:
            with urllib.request.urlopen(f"{base}/healthz"):
                return
        except (OSError, urllib.error.URLError):
            sleep(0.1)
    raise AssertionError("the server did not answer")


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    page = chromium.new_page(viewport={"width": 1440, "height": 900}, timezone_id="UTC")
    yield page
    page.close()


def imported(program: Program, folder: Path) -> str:
    """The public id of the session."""
    path = folder / "talk.jsonl"
    path.write_bytes(talk(CALLS))
    done = program.run("import_sessions", str(path), "--json")
    assert done.returncode == 0, done.stderr.decode()
    return str(json.loads(done.stdout.decode().split("\n")[0])["session"])


@pytest.mark.nodb
def test_a_summary_is_made_watched_cancelled_tried_again_and_its_loss_followed(program: Program, page: Page, tmp_path: Path) -> None:
    session = imported(program, tmp_path)
    with model_server("stalled_stream") as model, served(program, model) as base:
        watched = Watched(page=page, base=base)
        watched.watch()

        watched.go(f"/s/{session}/checkpoints")
        page.get_by_role("link", name="Summarise calls…").click()
        page.locator("select[name=with]").select_option("anthropic")
        plan = page.locator("#plan")
        expect(plan).to_contain_text("tested at 127.0.0.1")
        expect(plan).to_contain_text("a call at most")
        assert faults(page) == []
        assert model.requests == [], "a dry run asks nobody"

        page.get_by_role("button", name="Make the summary").click()
        job = page.locator("#job")
        expect(job).to_contain_text("waiting for the model")
        expect(page.locator("#calls")).to_contain_text("reserved")
        page.get_by_role("button", name="Cancel").click()
        expect(job).to_contain_text("was cancelled")
        expect(page.locator("#calls")).to_contain_text("cancelled")
        assert faults(page) == []

        model.answer = checkpoint(1)
        model.play("500_then_ok")
        page.get_by_role("button", name="Start again").click()
        expect(job).to_contain_text("has succeeded", timeout=60_000)
        expect(page.locator("#calls")).to_contain_text("server error")
        assert len(model.requests) == 3

        page.locator("#job dl a", has_text="m1").click()
        expect(page.locator(".answer")).to_be_visible()
        lost = page.locator("#items tr[data-removal] a", has_text=RULE)
        lost.first.click()
        expect(page.locator("main")).to_contain_text(RULE)
        assert f"/s/{session}/messages?around=" in page.url

        model.answer = checkpoint(2)
        model.play("good")
        watched.go(f"/s/{session}/summarise?to=9&with=anthropic")
        page.get_by_role("button", name="Make the summary").click()
        expect(job).to_contain_text("has succeeded", timeout=60_000)
        watched.go(f"/s/{session}/checkpoints/m1..m2")
        expect(page.locator("main")).to_contain_text("checkpoint 2 says that alpha stays open")
        assert faults(page) == []
        assert watched.wrong == []
