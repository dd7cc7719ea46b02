"""A real browser against a real server in this process. Tasks run at once: a worker that needs no waiting."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from ctxweb.celery import app
from ctxweb.demo import DEMOS
from ctxweb.models import Session
from ctxweb.services.session_import import session_import

CHROMIUM = os.environ.get("CTXWEB_TEST_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# Ends with the last movement of the page; what moves without an end is not waited for.
MOVED = """Promise.all(document.getAnimations()
    .filter((one) => one.effect.getComputedTiming().endTime < Infinity)
    .map((one) => one.finished.catch(() => 0)))
    .then(() => 0)"""
expect.set_options(timeout=20_000)  # ms; a busy machine is no fault of the page
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # playwright runs a loop in this thread, which Django takes for async code


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass(slots=True)
class Watched:
    """A page and what went wrong on it: script errors, refused or failed requests, requests to other hosts."""

    page: Page
    base: str
    wrong: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        """Open a page and wait until what it fetches by itself is there: a part that waits is dimmed."""
        self.page.goto(self.base + path, wait_until="load")
        expect(self.page.locator(".htmx-request")).to_have_count(0)
        self.page.evaluate(MOVED)

    def watch(self) -> None:
        self.page.on("pageerror", lambda error: self.wrong.append(f"script error: {error}"))
        self.page.on("console", lambda said: self.wrong.append(f"console: {said.text}") if said.type in ("error", "warning") else None)
        self.page.on("request", lambda request: self._same_host(request.url))

    def _same_host(self, url: str) -> None:
        if not url.startswith(("data:", "blob:")) and urlsplit(url).netloc != urlsplit(self.base).netloc:
            self.wrong.append(f"request to another host: {url}")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.skip("no Chromium is installed; name one in CTXWEB_TEST_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def worker() -> Iterator[None]:
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False


@pytest.fixture
def watched(chromium: Browser, live_server: Any, worker: None) -> Iterator[Watched]:
    """A page of 1,440 × 900; the test fails for anything that went wrong on it."""
    page = chromium.new_page(viewport={"width": 1440, "height": 900}, timezone_id="UTC")
    watched = Watched(page=page, base=live_server.url)
    watched.watch()
    yield watched
    page.close()
    assert watched.wrong == []


def _quarter(text: str) -> int:
    return len(text) // 4


def demo_file(name: str) -> bytes:
    """The bytes of one of the demo sessions."""
    return next(demo.make(_quarter) for demo in DEMOS if demo.name == f"demo-{name}.jsonl")


@pytest.fixture
def long_session(transactional_db: None) -> Session:
    """The demo session with several mechanisms, imported."""
    session_import(name="long.jsonl", stream=BytesIO(demo_file("long")))
    return Session.objects.filter(recorded_compactions__gt=0).order_by("-call_count")[0]
