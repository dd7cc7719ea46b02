"""The pages: each answers whole and as a fragment, in bounded size, with a bounded number of queries."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxweb.models import Job, Session
from tests.ctxweb.pages_b.rows import CALLS, make_session

pytestmark = pytest.mark.django_db

PAGES = (
    "/s/{s}/messages", "/s/{s}/messages?role=assistant", "/s/{s}/messages?around=40", "/s/{s}/view/1", "/s/{s}/view/16",
    "/s/{s}/view/16?against=3",
    "/s/{s}/view/16?against=15&ghosts=all", "/s/{s}/ledger", "/s/{s}/ledger?compaction=3", "/s/{s}/ledger?layer=summary&kind=tool_use",
    "/s/{s}/b/3.1", "/s/{s}/b/1.1", "/s/{s}/import", "/s/{s}/import?verdict=ok", "/s/{s}/import/1", "/jobs", "/settings",
)  # fmt: skip
NODES, BYTES = 5_000, 100_000


class Counter(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.nodes = 0
        self.styled: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.nodes += 1
        self.styled += [name for name, _ in attributes if name == "style" or name.startswith("on")]


def address_of(pattern: str, session: Session) -> str:
    return pattern.format(s=session.public_id)


@pytest.fixture
def session() -> Session:
    return make_session(turns=7, name="a")


def test_each_page_answers_and_links_its_json_twin(session: Session) -> None:
    for pattern in PAGES:
        response = Client().get(address_of(pattern, session))
        assert response.status_code == 200, pattern
        assert "HX-Request" in response.headers["Vary"], pattern
        twin = response.context["frame"].json
        assert f'<a href="{twin.replace("&", "&amp;")}">JSON</a>' in response.content.decode(), pattern
        assert Client().get(twin).status_code == 200, pattern


def test_a_page_holds_no_inline_style_or_script(session: Session) -> None:
    for pattern in PAGES:
        text = Client().get(address_of(pattern, session)).content.decode()
        counter = Counter()
        counter.feed(text)
        assert counter.styled == [], pattern
        assert "<style" not in text, pattern
        assert text.count("<script") == text.count("<script src") + text.count('<script type="module" src'), pattern


def test_pages_of_a_large_session_are_bounded() -> None:
    large = make_session(turns=60, name="large", text="a line of text that is rather long, with 中文 and more words " * 6)
    for pattern in PAGES:
        response = Client().get(address_of(pattern, large))
        counter = Counter()
        counter.feed(response.content.decode())
        assert len(response.content) < BYTES, pattern
        assert counter.nodes < NODES, pattern


def test_the_number_of_queries_of_a_page_does_not_grow() -> None:
    small, large = make_session(turns=7, name="small"), make_session(turns=70, name="large")
    for pattern in PAGES:
        counts = [query_count(address_of(pattern, session)) for session in (small, large)]
        assert counts[0] == counts[1] < 40, pattern


def query_count(address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert Client().get(address).status_code == 200
    return len(captured)


@pytest.mark.parametrize(
    ("pattern", "target", "holds"),
    [
        ("/s/{s}/messages?after=5.1", "messages-more", 'id="b6.1"'),
        ("/s/{s}/view/16", "view-more", "data-row"),
        ("/s/{s}/view/16?against=15&ghosts=all", "ghosts-more", 'class="ghost"'),
        ("/s/{s}/ledger?after=1", "ledger-more", 'id="c2"'),
        ("/s/{s}/ledger?compaction=3&layer=summary&action=summarise&edits=6", "more-3", "data-removal"),
        ("/s/{s}/b/3.1", "b3.1", "<details"),
        ("/s/{s}/import?after=2", "records-more", 'id="r3"'),
    ],
)
def test_htmx_gets_the_fragment_of_the_same_address(session: Session, pattern: str, target: str, holds: str) -> None:
    text = Client().get(address_of(pattern, session), headers={"HX-Request": "true", "HX-Target": target}).content.decode()
    assert holds in text
    assert "<html" not in text


def test_a_session_that_is_not_published_has_no_page(session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(current=None)
    for pattern in (page for page in PAGES if "{s}" in page):
        assert Client().get(address_of(pattern, session)).status_code == 404, pattern


MISSING = (
    "/s/{s}/view/9999", "/s/{s}/view/3?against=9999", "/s/{s}/view/3?against=3", "/s/{s}/b/9999.1", "/s/{s}/b/x", "/s/{s}/import/9999",
    "/s/{s}/body/00", "/s/{s}/body/zz", "/s/{s}/ledger?history=replay-1", "/jobs/nothing",
)  # fmt: skip


def test_what_does_not_exist_is_not_found(session: Session) -> None:
    for address in MISSING:
        assert Client().get(address_of(address, session)).status_code == 404, address


def test_the_view_begins_with_what_no_record_logs(session: Session) -> None:
    text = Client().get(f"/s/{session.public_id}/view/{3 * CALLS + 1}").content.decode()
    assert "system prompt, tools, reminders: not in the log" in text
    assert "re-attached by call 16" in text


def test_the_ledger_says_which_layer_removed_what_and_balances(session: Session) -> None:
    text = Client().get(f"/s/{session.public_id}/ledger").content.decode()
    assert "2 layers made" in text
    assert "before, reported" in text
    assert "change in unexplained" in text
    assert "within" in text


def test_a_cleared_block_shows_what_the_edit_changed(session: Session) -> None:
    text = Client().get(f"/s/{session.public_id}/b/3.1").content.decode()
    assert "What the edit changed" in text
    assert "[Old tool result content cleared]" in text
    assert "replaced it by a summary" in text


def job(**fields: object) -> Job:
    values = {"public_id": "job0000000000000001", "kind": "session_import", "key": "k1", "params": {"name": "a.jsonl"}, "log": []}
    return Job.objects.create(**(values | fields))


def test_a_job_shows_progress_and_can_be_cancelled(session: Session) -> None:
    waiting = job(state="queued", done=5, total=10)
    client = Client(enforce_csrf_checks=True)
    text = client.get(f"/jobs/{waiting.public_id}").content.decode()
    assert "5 of 10 bytes" in text
    assert f'hx-get="/jobs/{waiting.public_id}?version=0"' in text
    assert client.post(f"/jobs/{waiting.public_id}/cancel").status_code == 403
    token = client.cookies["ctxweb_csrf"].value
    assert client.post(f"/jobs/{waiting.public_id}/cancel", {"csrfmiddlewaretoken": token}).status_code == 302
    waiting.refresh_from_db()
    assert waiting.state == "cancelled"


def test_an_ended_job_can_be_started_again_and_a_running_one_cannot() -> None:
    failed = job(state="failed", error={"code": "disk_full", "message": "No space is left."})
    text = Client().get(f"/jobs/{failed.public_id}").content.decode()
    assert "disk full" in text
    assert "No space is left." in text
    assert "Start again" in text
    assert "Cancel" not in text
    assert "every 1s" not in text
    Client().post(f"/jobs/{failed.public_id}/retry")
    failed.refresh_from_db()
    assert failed.state == "queued"


def test_a_reader_who_has_the_state_of_a_job_is_told_that_nothing_changed() -> None:
    waiting = job(state="leased")
    assert Client().get(f"/jobs/{waiting.public_id}?version=0").status_code == 204
    Job.objects.update(version=1)
    assert Client().get(f"/jobs/{waiting.public_id}?version=0").status_code == 200


def test_the_settings_page_says_where_the_token_is_and_not_what_it_is(settings: object) -> None:
    text = Client().get("/settings").content.decode()
    assert "api-token" in text
    assert settings.API_TOKEN not in text  # type: ignore[attr-defined]
    assert "SQLite journal_mode" in text or "PostgreSQL" in text
