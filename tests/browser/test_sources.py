"""Sources that change while somebody looks at them, against the web server of the product; and a reviewer's afternoon."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from ctxweb.models import AuditEntry, Session
from ctxweb.services.audit import resolutions_append
from ctxweb.services.durable_changes import durable_change
from ctxweb.services.source_verify import sources_check
from tests.browser.conftest import Watched
from tests.browser.test_accessibility import faults
from tests.ctxweb.durable.sessions import message_list
from tests.ctxweb.sources.served import CAN_BE_DENIED, prepared, said, served
from tests.evidence.durable_rows import ANA
from tests.program import Program

TEXT = b"evidence\n"
FOLLOWS = 2_000  # ms, until a badge shows what became of its source
BUSY = 3_000  # and what a busy machine may need beside it
KEEP = """
from ctxweb.models import DurableItem, Session
from ctxweb.services.durable_changes import durable_change
from ctxweb.services.durable_versions import Author
session = Session.objects.select_related("project").get()
DurableItem.objects.all().delete()
fact = {{"fact_id": "report", "content": "The report is final.", "source_pointer": {pointer!r},
         "last_confirmed_at": "2026-10-01T09:00:00Z"}}
changes = {{"facts": [fact]}}
durable_change(project=session.project, session=session.public_id, expected=0, author=Author(name="Ana", origin="page"), changes=changes)
"""


def artifact(root: Path, session: str, name: str, text: bytes = TEXT) -> tuple[Path, str]:
    """A file of a session under a root, and the pointer to it."""
    file = root / session / "tool-results" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text)
    return file, f"artifact:{session}:{name}:{hashlib.sha256(text).hexdigest()}"


@pytest.fixture
def opened(chromium: Browser) -> Iterator[Callable[[str], Watched]]:
    pages: list[Watched] = []

    def open_at(base: str) -> Watched:
        watched = Watched(page=chromium.new_page(viewport={"width": 1440, "height": 900}, timezone_id="UTC"), base=base)
        watched.watch()
        pages.append(watched)
        return watched

    yield open_at
    for one in pages:
        one.page.close()
        assert one.wrong == []


@pytest.mark.nodb
@pytest.mark.parametrize("events", ["1", "0"], ids=["stream", "polling"])
def test_badges_follow_what_becomes_of_a_source_within_two_seconds(
    program: Program, tmp_path: Path, opened: Callable[[str], Watched], events: str
) -> None:
    root = tmp_path / "artifacts"
    root.mkdir()
    session = prepared(program, session=message_list(), root=root, pointers=[])
    file, pointer = artifact(root, session, "report.md")
    said(program, KEEP.format(pointer=pointer))
    moved = file.parent.with_name("moved")
    steps: list[tuple[str, Callable[[], object]]] = [
        ("missing", file.unlink),
        ("available", lambda: file.write_bytes(TEXT)),
        ("corrupt", lambda: file.write_bytes(b"altered\n")),
        ("available", lambda: file.write_bytes(TEXT)),
        ("missing", lambda: file.parent.rename(moved)),
        ("available", lambda: moved.rename(file.parent)),
    ]
    if CAN_BE_DENIED:
        steps += [("denied", lambda: file.chmod(0)), ("available", lambda: file.chmod(0o644))]
    with served(program, extra={"CTXWEB_EVENTS": events}) as server:
        watched = opened(f"http://127.0.0.1:{server.port}")
        page = watched.page
        watched.go(f"/s/{session}/sources")
        badge = page.locator("table.items .source")
        expect(badge).to_have_text("available", timeout=BUSY)
        for status, change in steps:
            change()
            expect(badge.locator(".tag")).to_have_text(status, timeout=FOLLOWS + BUSY)
            _says(page, status)
            traced = f"{int(status == 'available')} of 1 source"
            expect(page.locator("#finding")).to_contain_text(traced, timeout=FOLLOWS + BUSY)
            expect(page.locator("#statuses")).to_contain_text(status)
        page.locator("table.items td.fact a").click()
        history = page.locator("table.history tbody tr")
        expect(history).to_have_count(len(steps) + 1)
        shown = [row.locator(".tag").inner_text() for row in history.all()]
        assert shown == [status for status, _ in reversed(steps)] + ["available"]
        watched.go("/audit")
        expect(page.locator("#chain")).to_contain_text(f"to entry {len(steps) + 1}")


def _says(page: Page, status: str) -> None:
    """The tab and the title tell the worst status."""
    answer = page.locator("nav.tabs a[aria-current] .ans")
    if status == "available":
        expect(answer).to_have_text("1 available")
        expect(page).to_have_title(re.compile("^Sources"))
    else:
        expect(answer).to_have_text(f"1 {status}")
        expect(page).to_have_title(re.compile(rf"^\(1 {status}\) Sources"))


@pytest.fixture
def reviewed(long_session: Session, tmp_path: Path) -> Path:
    """A session with two facts from files; they were looked at last week, and one file is gone since. The folder of its root."""
    project, session = long_session.project, long_session.public_id
    root = tmp_path / "artifacts"
    files = [artifact(root, session, name) for name in ("plan.md", "report.md")]
    project.artifact_roots = [str(root)]
    project.save()
    facts = [
        {"fact_id": file.name, "content": f"What {file.name} says", "source_pointer": pointer, "last_confirmed_at": "2026-10-01T09:00:00Z"}
        for file, pointer in files
    ]
    durable_change(project=project, session=session, expected=0, author=ANA, changes={"facts": facts})
    week = timezone.now() - timedelta(days=9)
    checked = sources_check(project=project, pointers=[pointer for _, pointer in files], run="week")
    resolutions_append(project=project, resolutions=checked.resolutions, actor="schedule", run="week", started_at=week, finished_at=week)
    files[1][0].unlink()
    return root


def test_a_reviewers_afternoon(watched: Watched, long_session: Session, reviewed: Path, tmp_path: Path) -> None:
    page = watched.page
    watched.go("/audit")
    page.get_by_role("button", name="Verify all").click()
    page.wait_for_url("**/jobs")
    expect(page.locator("tbody tr").first).to_contain_text("succeeded")
    page.keyboard.press("g")
    page.keyboard.press("a")
    page.wait_for_url("**/audit")
    expect(page).to_have_title(re.compile(r"^\(1 missing\) Audit"))
    page.get_by_role("link", name="1 went missing").click()
    row = page.locator("tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("report.md")
    row.locator("a").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    assert [one.inner_text() for one in page.locator("tbody .tag").all()] == ["missing", "available"]
    page.get_by_role("link", name="Back to the audit").click()
    page.get_by_label("Note").fill("The report of the first run is gone; the plan stands.")
    page.get_by_label("Your name").fill("Ravi")
    page.get_by_role("button", name="Sign off").click()
    expect(page.locator(".note.good")).to_contain_text("Signed off: entry 5")
    expect(page.locator("#sign-offs")).to_contain_text("the plan stands")
    with page.expect_download() as loading:
        page.get_by_role("link", name="Export bundle").click()
    bundle = tmp_path / "audit.bundle.jsonl"
    loading.value.save_as(bundle)
    _verified(bundle, str(AuditEntry.objects.get(seq=5).hash))
    bundle.write_bytes(bundle.read_bytes().replace(b"plan stands", b"plan stood!"))
    assert subprocess.run([sys.executable, "-m", "compaction.sources.verify_bundle", str(bundle)], capture_output=True).returncode != 0


def _verified(bundle: Path, digest: str) -> None:
    """A stranger checks it offline, against the head that was written down."""
    command = [sys.executable, "-I", os.path.abspath("compaction/sources/verify_bundle.py"), str(bundle), "--anchor", f"5:{digest}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=bundle.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert digest in done.stdout


def test_facts_are_kept_with_the_keyboard_and_the_pages_are_accessible(watched: Watched, long_session: Session, reviewed: Path) -> None:
    page, own = watched.page, f"/s/{long_session.public_id}"
    watched.go(f"{own}/b/1.1")
    page.keyboard.press("f")
    page.wait_for_url("**/keep/1.1")
    page.get_by_label("Your name").fill("Ana")
    page.get_by_role("button", name="Keep it as a fact").click()
    page.wait_for_url("**/sources?item=*")
    expect(page.locator("#panel")).to_contain_text(f"transcript:{long_session.public_id}:")
    page.keyboard.press("e")
    page.wait_for_url("**/edit?item=*")
    assert page.get_by_label("Your name").input_value() == "Ana"
    page.go_back()
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_url("**/messages")
    page.keyboard.press("g")
    page.keyboard.press("d")
    page.wait_for_url("**/sources")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#item")).to_be_visible()
    pages = (f"{own}/sources", page.url.removeprefix(watched.base), f"{own}/sources/edit?new=facts", f"{own}/sources/preview",
             f"{own}/sources/versions", f"{own}/sources/versions/2", f"{own}/keep/1.1",
             "/audit", "/audit/entries", "/audit/drift")  # fmt: skip
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for address in pages:
            watched.go(address)
            found += [f"{scheme} {address}: {fault}" for fault in faults(page)]
            page.set_viewport_size({"width": 1024, "height": 900})
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append(f"{address}: scrolls sideways at 1,024 px")
            page.set_viewport_size({"width": 1440, "height": 900})
    assert not found, "\n".join(found)


def test_without_scripts_a_fact_is_added_and_seen(chromium: Browser, live_server: object, long_session: Session) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/s/{long_session.public_id}/sources")  # type: ignore[attr-defined]
    page.get_by_role("link", name="Add a fact").first.click()
    page.get_by_label("Fact", exact=True).fill("The port is 5433.")
    page.get_by_label("Source").fill(f"transcript:{long_session.public_id}:2")
    page.get_by_label("Your name").fill("Ana")
    page.get_by_role("button", name="Keep it").click()
    assert "The port is 5433." in page.locator("#panel").inner_text()
    page.get_by_role("link", name="The exact text with its tokens").click()
    assert "The port is 5433." in page.locator("pre.excerpt").inner_text()
    context.close()
