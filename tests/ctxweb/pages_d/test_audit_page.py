"""The audit of a project, and what the other pages say about sources."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from ctxweb.models import AuditEntry, DurableItem, Job, Session, SignOff
from ctxweb.queries.source_counts import session_sources
from ctxweb.services.durable_versions import durable_reindex
from tests.evidence.durable_rows import STATUSES, fact, keep_durable, look_at
from tests.evidence.elements import Element, page_of

pytestmark = pytest.mark.django_db


def page(address: str) -> Element:
    response = Client().get(address)
    assert response.status_code == 200, address
    return page_of(response.content.decode())


def test_an_empty_project_says_how_to_begin(session: Session) -> None:
    assert page("/audit").one("section", cls="state").one("h3").text == "No session keeps facts yet"
    assert page("/audit/entries").one("section", cls="state").one("h3").text == "Nothing was checked yet"
    assert page("/audit/drift").one("section", cls="state").one("h3").text == "Nothing drifted"
    assert page(f"/s/{session.public_id}/sources").one("section", cls="state").one("h3").text == "No fact is kept for this session"


def test_a_filter_that_matches_nothing_can_be_cleared(session: Session) -> None:
    keep_durable(session, facts=2)
    for address in ("/audit?status=denied", f"/s/{session.public_id}/sources?status=denied", "/audit/entries?actor=nobody"):
        assert page(address).one("section", cls="state").one("a", cls="btn").text.startswith("Clear the filter")


def test_the_worst_status_stands_in_the_tab_the_title_and_the_list_of_the_project(session: Session) -> None:
    keep_durable(session, facts=8)
    shown = page(f"/s/{session.public_id}/messages")
    (tab,) = [one for one in shown.one("nav", cls="tabs").all("a") if one.text.startswith("Sources")]
    assert tab.text == "Sources2 corrupt"
    assert "alert" in tab.attributes["class"]
    assert page(f"/s/{session.public_id}/sources").one("title").text.startswith("(2 corrupt) Sources")
    assert page("/audit").one("title").text.startswith("(2 corrupt) Audit")


def test_counts_are_of_distinct_sources_by_their_last_look(session: Session) -> None:
    keep_durable(session, facts=4)
    DurableItem.objects.update(confirmed_sha256="")
    counts = session_sources(session=session.public_id)
    assert (dict(counts.statuses), counts.changed) == ({"available": 2, "corrupt": 1, "missing": 1}, 0)
    DurableItem.objects.filter(session=session.public_id, item_id="fact-0").update(confirmed_sha256="f" * 64)
    assert session_sources(session=session.public_id).changed == 1
    changed = page("/audit?status=changed")
    assert [row.one("a").attributes["title"] for row in changed.one("tbody").all("tr")] == [fact(session, 0)["source_pointer"]]
    durable_reindex()


def test_drift_since_a_day_names_what_went_missing_first(session: Session) -> None:
    keep_durable(session, facts=4)
    now = timezone.now()
    pointers = [fact(session, number)["source_pointer"] for number in range(4)]
    look_at(session, pointers, at=now - timedelta(days=9), statuses=STATUSES[:1])
    look_at(session, pointers, at=now - timedelta(hours=1))
    rows = page("/audit/drift").one("tbody").all("tr")
    assert sorted(row.cells[3] for row in rows) == ["became corrupt", "went missing"]
    assert page("/audit").one("h1").text.endswith("1 went missing, 1 became corrupt.")


def test_a_sign_off_needs_a_name_and_keeps_the_note_that_was_written(session: Session) -> None:
    response = Client().post("/audit/sign-off", {"name": " ", "note": "All seen."})
    shown = page_of(response.content.decode())
    assert (response.status_code, shown.one(id="f-note").text) == (422, "All seen.")
    assert shown.one(id="f-name").attributes["aria-invalid"] == "true"
    assert not SignOff.objects.exists()


def test_a_sign_off_of_a_session_is_an_entry_of_the_chain(session: Session) -> None:
    response = Client().post("/audit/sign-off", {"name": "Ravi", "note": "All seen.", "session": session.public_id})
    made = SignOff.objects.get()
    assert response.headers["Location"] == f"/audit?session={session.public_id}&signed={made.seq}"
    assert (made.subject, AuditEntry.objects.get(seq=made.seq).actor) == (f"session:{session.public_id}", "Ravi")
    assert "All seen." in page(response.headers["Location"]).one(id="sign-offs").text


def test_verify_opens_a_job_for_the_name_that_is_known(session: Session) -> None:
    keep_durable(session, facts=2)
    client = Client()
    client.cookies["ctxweb_name"] = "Ravi%20K"
    answer = client.post(f"/s/{session.public_id}/sources/verify")
    job = Job.objects.get(kind="verify")
    assert (answer.headers["Location"], job.params["actor"]) == (f"/jobs/{job.public_id}", "Ravi K")
    assert client.post("/audit/verify").headers["Location"] == "/jobs"


def test_unsafe_requests_need_the_token_of_a_page(session: Session) -> None:
    strict = Client(enforce_csrf_checks=True)
    for address in (
        "/audit/sign-off",
        "/audit/verify",
        f"/s/{session.public_id}/sources/verify",
        f"/s/{session.public_id}/sources/edit?new=facts",
    ):
        assert strict.post(address).status_code == 403
