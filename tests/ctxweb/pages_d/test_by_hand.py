"""Facts and work by hand: each form makes a version, and says at the field what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from ctxweb.durable_rows import last_version, state_of
from ctxweb.models import DurableDecision, DurableProposal, DurableVersion, Session
from ctxweb.queries.sources import item_key
from tests.evidence.durable_rows import fact, keep_durable
from tests.evidence.elements import Element, page_of

pytestmark = pytest.mark.django_db


def send(address: str, **fields: Any) -> tuple[Any, Element]:
    response = Client().post(address, {"author": "Ana", "version": "0", **fields})
    return response, page_of(response.content.decode())


def state(session: Session) -> Any:
    return state_of(last_version(session=session.public_id))


def test_a_fact_is_added_and_shown_with_its_author_and_reason(session: Session) -> None:
    pointer = f"transcript:{session.public_id}:2"
    response, _ = send(
        f"/s/{session.public_id}/sources/edit?new=facts", content="The  port\nis 5433.", source_pointer=pointer, reason="asked"
    )
    assert response.status_code == 302
    (kept,) = state(session).facts
    assert (kept.content, kept.source_pointer) == ("The port is 5433.", pointer)
    version = DurableVersion.objects.get()
    assert (version.author, version.reason, version.origin) == ("Ana", "asked", "page")
    shown = page_of(Client().get(response.headers["Location"]).content.decode())
    assert "The port is 5433." in shown.one(id="panel").text
    assert response.cookies["ctxweb_name"].value == "Ana"


@pytest.mark.parametrize(
    ("wrong", "field", "said"),
    [
        ({"content": " "}, "content", "Content is empty: give it."),
        ({"source_pointer": ""}, "source_pointer", "Source_pointer is empty: give it."),
        ({"author": ""}, "author", "Author is empty: give it."),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_nothing_that_was_written_is_lost(
    session: Session, wrong: dict[str, str], field: str, said: str
) -> None:
    given = {"content": "A fact", "source_pointer": "transcript:x:1", "fact_id": "one", "reason": "because", **wrong}
    response, page = send(f"/s/{session.public_id}/sources/edit?new=facts", **given)
    assert response.status_code == 422
    assert page.one(id=f"{field}-wrong").text == said
    assert page.one(id=f"f-{field}").attributes["aria-invalid"] == "true"
    assert page.one(id="f-fact_id").attributes["value"] == "one"
    assert not DurableVersion.objects.exists()


def test_an_id_that_is_there_is_refused(session: Session) -> None:
    keep_durable(session, facts=3)
    given = {"content": "A fact", "source_pointer": "transcript:x:1", "fact_id": "fact-1", "version": "2"}
    response, page = send(f"/s/{session.public_id}/sources/edit?new=facts", **given)
    assert (response.status_code, page.one(id="fact_id-wrong").text) == (422, "An item with this id is there: give another one.")


def test_a_form_for_an_older_version_is_given_back_with_the_way_to_what_changed(session: Session) -> None:
    keep_durable(session, facts=3)
    address = f"/s/{session.public_id}/sources/edit?item={item_key('facts', 'fact-1')}"
    response, page = send(address, content="Mine", source_pointer="transcript:x:1", version="1")
    assert response.status_code == 409
    note = page.one("p", cls="failed")
    assert "it is at version 2 now" in note.text
    assert note.one("a").attributes["href"] == f"/s/{session.public_id}/sources/versions/2?against=1"
    assert page.one(id="f-content").text == "Mine"
    again, _ = send(address, content="Mine", source_pointer="transcript:x:1", version="2")
    assert again.status_code == 302
    assert [one.content for one in state(session).facts] == ["The first fact, said better", "Mine", "Fact 2"]


def test_work_moves_by_the_rules_and_done_is_final(session: Session) -> None:
    keep_durable(session, facts=3)
    address = f"/s/{session.public_id}/sources/edit?item={item_key('pending_items', 'work-0')}"
    response, page = send(f"{address}&move=blocked", source_pointer="transcript:x:1", reason="", version="2")
    assert (response.status_code, page.one(id="reason-wrong").text) == (422, "Reason is empty: give it.")
    response, _ = send(f"{address}&move=blocked", source_pointer="transcript:x:1", reason="waits", version="2")
    assert response.status_code == 302
    response, _ = send(f"{address}&move=done", source_pointer="transcript:x:2", reason="merged", version="3")
    assert response.status_code == 302
    assert (state(session).pending_items[0].status, state(session).pending_items[0].reason) == ("done", None)
    for change in ("move=open", "", "move=blocked"):
        assert Client().get(f"{address}&{change}").status_code == 404
    response, page = send(f"{address}&remove=1", reason="gone", version="4")
    assert (response.status_code, "a done item cannot be removed" in page.one("p", cls="failed").text.lower()) == (422, True)


def test_a_removal_needs_a_reason(session: Session) -> None:
    keep_durable(session, facts=3)
    address = f"/s/{session.public_id}/sources/edit?item={item_key('facts', 'fact-1')}&remove=1"
    response, page = send(address, version="2")
    assert (response.status_code, bool(page.one(id="reason-wrong").text)) == (422, True)
    response, _ = send(address, version="2", reason="it was wrong")
    assert response.status_code == 302
    assert [one.fact_id for one in state(session).facts] == ["fact-0", "fact-2"]


def test_a_message_is_kept_as_a_fact_with_its_place_as_the_source(session: Session) -> None:
    messages = page_of(Client().get(f"/s/{session.public_id}/messages").content.decode())
    assert [link.attributes["href"] for link in messages.all("a", cls="keep")] == ["keep/1.1", "keep/2.1"]
    form = page_of(Client().get(f"/s/{session.public_id}/keep/1.1").content.decode())
    assert form.one(id="f-content").text == "The port is 5433."
    response, _ = send(f"/s/{session.public_id}/keep/1.1", content="The port is 5433.", fact_id="")
    assert response.status_code == 302
    (kept,) = state(session).facts
    assert kept.source_pointer == f"transcript:{session.public_id}:2"
    assert last_version(session=session.public_id).confirmed != "{}"  # type: ignore[union-attr]  # it was just made
    assert Client().get(f"/s/{session.public_id}/keep/9.9").status_code == 404


@pytest.mark.parametrize(
    ("decision", "facts"), [("take", ["fact-0", "fact-1", "fact-2", "found"]), ("leave", ["fact-0", "fact-1", "fact-2"])]
)
def test_a_candidate_waits_for_a_person_and_is_decided_once(session: Session, decision: str, facts: list[str]) -> None:
    keep_durable(session, facts=3)
    address = f"/s/{session.public_id}/sources/proposals/{DurableProposal.objects.get(kind='candidate').number}"
    response, page = send(address, version="2")
    assert (response.status_code, page.one(id="decision-wrong").text) == (422, "No decision was chosen: choose one.")
    response, _ = send(address, version="2", decision=decision, reason="seen")
    assert response.status_code == 302
    assert [one.fact_id for one in state(session).facts] == facts
    assert DurableDecision.objects.get().note == "seen"
    response, page = send(address, version=str(last_version(session=session.public_id).number), decision=decision)  # type: ignore[union-attr]
    assert (response.status_code, "decided" in page.one("p", cls="failed").text) == (409, True)


def test_a_conflict_shows_both_and_a_person_chooses(session: Session) -> None:
    keep_durable(session, facts=3)
    address = f"/s/{session.public_id}/sources/proposals/{DurableProposal.objects.get(kind='conflict').number}"
    page = page_of(Client().get(address).content.decode())
    assert [card.one("p", cls="said").text for card in page.all("section", cls="card")] == ["Fact 1", "Another text"]
    response, _ = send(address, version="2", decision="take")
    assert response.status_code == 302
    assert state(session).facts[1].content == "Another text"
    earlier = page_of(Client().get(f"/s/{session.public_id}/sources/versions/3").content.decode())
    assert "Fact 1" in earlier.one("tbody").text


def test_hostile_text_is_text(session: Session) -> None:
    hostile = "<script>alert(1)</script>\u202e\"'"
    send(f"/s/{session.public_id}/sources/edit?new=facts", content=hostile, source_pointer=f"<b>{hostile}", fact_id=hostile, reason=hostile)
    for address in ("sources", f"sources?item={item_key('facts', hostile)}", "sources/versions", "sources/versions/1", "sources/preview"):
        html = Client().get(f"/s/{session.public_id}/{address}").content.decode()
        assert "<script>alert" not in html
        assert "\u202e" not in html, address
    assert fact(session, 1)["fact_id"] == "fact-1"
