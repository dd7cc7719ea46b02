"""Pages of checkpoints: recorded and made ones, a chain of five, what is lost, what contradicts the durable state."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from compaction.retention.canaries import canaries
from compaction.typed_json import to_json
from ctxweb.checkpoints.rows import checkpoint_count, checkpoints_of
from ctxweb.models import Job, Session, Summary, SummaryCall
from ctxweb.services.durable_changes import durable_change
from tests.evidence.checkpoint_pages import checkpoint, checkpoint_diff, checkpoints
from tests.evidence.durable_rows import ANA, fact
from tests.evidence.elements import Element, figures, page_of
from tests.evidence.made_checkpoints import AT, made_text, make_chain, make_summary
from tests.evidence.session_pages import facts

pytestmark = pytest.mark.django_db


def get(address: str, status: int = 200) -> Element:
    response = Client().get(address)
    assert response.status_code == status, address
    return page_of(response.content.decode())


def twin(page: Element) -> Any:
    return Client().get(next(link.attributes["href"] for link in page.one(cls="topbar").all("a") if link.text == "JSON")).json()


def asked(address: str) -> Any:
    return Client().get(f"/api/v1{address}").json()


def listed(session: Session) -> Element:
    return get(f"/s/{session.public_id}/checkpoints")


def test_recorded_ones_are_numbered_in_the_order_of_the_file_and_grow_out_of_each_other(session: Session) -> None:
    assert session.current is not None
    first, second = checkpoints_of(session=session, revision=session.current)
    assert [(one.key, one.origin, one.parent) for one in (first, second)] == [("1", "recorded", ""), ("2", "recorded", "1")]
    assert (first.from_call, first.to_call, second.from_call, second.to_call) == (1, 15, 16, 30)
    assert first.blocks == second.blocks - 1  # the earlier checkpoint is one of the blocks
    assert (first.cost_nano, first.attempts, first.is_readable) == (None, None, True)


def test_a_made_one_never_changes_its_number_whatever_became_of_the_others(session: Session) -> None:
    assert session.current is not None
    states = ("refused", "kept", "superseded", "trial", "kept")
    for state in states:
        make_summary(session, text=made_text(1), state=state)
    found = checkpoints_of(session=session, revision=session.current)
    assert [(one.key, one.state) for one in found[2:]] == [(f"m{number}", state) for number, state in enumerate(states, 1)]
    assert checkpoint_count(session=session) == 4  # what stands for nothing is not counted
    page = listed(session)
    assert page.one(cls="tabs").all("a")[4].one(cls="ans").text == "4"
    marks = {row.cells[0]: row.one("span", cls="label").text for row in page.all("tr", id=r"cm\d") if row.all("span", cls="label")}
    assert marks == {"m1": "refused", "m3": "came too late", "m4": "a trial"}


def test_a_chain_of_five_is_followed_from_checkpoint_to_checkpoint(talked: Session) -> None:
    make_chain(talked, 5)
    page = listed(talked)
    checkpoints(page, twin(page), asked)
    card = page.one("section", id="chain")
    assert "m1 → m5" in card.one(cls="sub").text
    carried = [figures(cell) for cell in card.one("tr", cls="sub").cells[2:-1]]
    assert len(carried) == 5
    said = [of for _, of in carried]
    assert said == sorted(said)
    rows = {row.cells[1]: row.cells[2:] for row in card.one("tbody").all("tr") if "data-row" in row.attributes}
    assert rows["src/module_1.py"] == ["kept", "kept", "lost", "kept", "lost", "m5"]
    assert any(cells[0] == "–" for cells in rows.values())  # said in a later range


def test_each_pair_of_the_chain_is_compared_and_a_change_has_a_permalink(talked: Session) -> None:
    make_chain(talked, 5)
    for number in range(1, 5):
        for form in ("", "?as=side"):
            page = get(f"/s/{talked.public_id}/checkpoints/m{number}..m{number + 1}{form}")
            checkpoint_diff(page, twin(page), asked)
            begun = page.all("tr", id=r"h-\w+(-\d+)?")
            assert begun
            for row in begun:
                link = row.one("a", cls="hunk").attributes["href"]
                assert link.endswith(f"hunk={row.attributes['id']}#{row.attributes['id']}")
                assert get(link.partition("#")[0]).all("tr", id=row.attributes["id"])
    changed = get(f"/s/{talked.public_id}/checkpoints/m1..m2")
    assert [(row.attributes["class"], row.cells[3]) for row in changed.all("tr", id=r"h-\w+")] == [
        ("del", "- The state is stored in JSON files.")
    ]
    assert get(f"/s/{talked.public_id}/checkpoints/m3..m3").one(cls="answer").text.startswith("Checkpoints m3 and m3 say the same.")


def test_an_unchanged_stretch_is_folded_and_can_be_opened(session: Session) -> None:
    long = "## Files and code\n" + "\n".join(f"- file number {number}" for number in range(40))
    make_summary(session, text=f"{long}\n- the last line")
    make_summary(session, text=f"{long}\n- the very last line")
    page = get(f"/s/{session.public_id}/checkpoints/m1..m2")
    assert [row.text for row in page.all("tr", cls="fold")] == ["39 lines, unchanged"]
    opened = get(page.one("tr", cls="fold").one("a").attributes["href"])
    assert not opened.all("tr", cls="fold")
    assert "file number 20" in opened.one("table", cls="diff").text


def test_a_long_difference_comes_in_windows_and_a_link_to_a_late_change_shows_it(session: Session) -> None:
    old, new = ("\n".join(f"{side} line of words number {number}" for number in range(400)) for side in ("old", "new"))
    make_summary(session, text=old)
    make_summary(session, text=f"{new}\n\n## Decisions\n- a last one")
    page = get(f"/s/{session.public_id}/checkpoints/m1..m2")
    assert page.all("tr", id="diff-more")
    rest = get(page.one("tr", id="diff-more").one("a").attributes["href"])
    assert rest.one("table", cls="diff").text != page.one("table", cls="diff").text
    late = twin(page)["hunks"][-1]["id"]
    assert get(f"/s/{session.public_id}/checkpoints/m1..m2?hunk={late}").all("tr", id=late)


def test_a_summary_that_kept_almost_nothing_jumps_out(talked: Session) -> None:
    make_summary(talked, text="Some work was done on the project, and it went well on the whole, with more of it to come.", to_call=9)
    assert listed(talked).one("tr", id="cm1").one("span", cls="f-lost").text == "almost nothing"
    page = get(f"/s/{talked.public_id}/checkpoints/m1")
    assert page.one("p", cls="failed").text.startswith("It kept almost nothing: 0 of ")
    assert page.one("title").text.startswith("(")
    lost = [row for row in page.one("section", id="items").all("tr") if "data-removal" in row.attributes]
    assert lost
    assert all(row.cells[0] == "lost" for row in lost)


def test_what_contradicts_the_durable_state_leads_to_the_fact(session: Session) -> None:
    changes = {
        "facts": [fact(session, 3, fact_id="F3", content="The state is stored in SQLite with a WAL.")],
        "pending_items": [],
    }
    durable_change(project=session.project, session=session.public_id, expected=0, author=ANA, changes=changes)
    make_summary(session, text=made_text(1))
    page = get(f"/s/{session.public_id}/checkpoints/m1")
    checkpoint(page, twin(page), asked)
    (told,) = page.one("section", id="contradictions").all("li")
    assert told.text == (
        "another choice: line 8 says The state is stored in JSON files.; fact F3 says The state is stored in SQLite with a WAL. (sqlite)"
    )
    address = next(link.attributes["href"] for link in told.all("a") if link.text == "F3")
    assert get(address.partition("#")[0]).all("tr", id=address.partition("#")[2])


def test_objections_of_the_job_are_shown_and_a_refused_one_says_that_the_view_stayed(session: Session) -> None:
    wrong = [{"code": "strange_url", "grave": True, "line": 2, "words": "https://evil.example/x", "count": 1}]
    make_summary(session, text=made_text(2), state="refused", reason="objections", objections=wrong)
    page = get(f"/s/{session.public_id}/checkpoints/m1")
    assert "The view stayed as it was." in page.one("p", cls="note").text
    assert page.one("section", id="objections").one("li").text.startswith("grave")
    assert not [link for link in page.all("a") if "evil.example" in link.attributes.get("href", "")]
    assert listed(session).one("tr", id="cm1").all("span", cls="bad")[-1].text == "1 grave"


def test_a_trial_tells_what_became_of_its_canaries(session: Session) -> None:
    put = canaries("seed", 3)
    make_summary(session, text=f"{made_text(1)}\n- {put[0].sentence}", state="trial", canaries=[to_json(one) for one in put])
    page = get(f"/s/{session.public_id}/checkpoints/m1")
    assert [row.cells[0] for row in page.one("section", id="canaries").one("tbody").all("tr")] == ["kept", "lost", "lost"]
    assert [one["outcome"] for one in twin(page)["canaries"]] == ["kept", "lost", "lost"]
    assert "1 of 3 kept" in page.one("section", id="canaries").text
    assert [chip.text for chip in page.one("div", id="canary-shares").all(cls="chip")] == ["constraint 100 %", "path 0 %", "identifier 0 %"]


def test_attempts_failures_and_cost_are_those_of_its_job(session: Session) -> None:
    job = Job.objects.create(public_id="summaryjob0001", kind="summary", key="k")
    make_summary(session, text=made_text(1), job=job)
    for number, (state, cost) in enumerate((("failed", 1_000_000), ("answered", 11_300_000)), 1):
        SummaryCall.objects.create(
            project=session.project, session=session.public_id, job=job, number=number, attempt=number, state=state, summarizer="anthropic",
            model="claude-haiku-4-5", shape="framed", input_tokens=10, most_output_tokens=10, cost_nano=cost, started_at=AT,
        )  # fmt: skip
    cells = listed(session).one("tr", id="cm1").cells
    assert (cells[12], cells[13]) == ("2 1 failed", "$0.0123")
    told = facts(get(f"/s/{session.public_id}/checkpoints/m1"))
    assert (told["attempts"], told["cost"]) == ("2, 1 failed", "$0.0123")
    SummaryCall.objects.filter(number=1).update(cost_nano=None)
    assert listed(session).one("tr", id="cm1").cells[13] == "–"


@pytest.mark.parametrize(
    ("summarizer", "caution"), [("anthropic", "model output, not evidence"), ("extractive", "an extract by rules, not evidence")]
)
def test_a_text_says_what_it_is_wherever_it_is_shown(session: Session, summarizer: str, caution: str) -> None:
    make_summary(session, text=made_text(1), summarizer=summarizer)
    for place in ("m1", "m1/range", "m1..m1"):
        assert caution in get(f"/s/{session.public_id}/checkpoints/{place}").one("span", cls="caution").text


HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(1)> \u202e \x00 ]]> {{ x }} {% y %} ‮https://evil.example/?\"'"


def test_hostile_text_is_text_on_every_page(session: Session) -> None:
    hostile = HOSTILE.replace("\x00", "\u2400")
    make_summary(session, text=f"## {hostile}\n{hostile}\n" + made_text(1), model="<b>x</b>", params={"focus": hostile})
    make_summary(session, text=f"## other {hostile}\n{hostile} more", parent=Summary.objects.get())
    for place in ("", "/m1", "/m1?text=all", "/m1/range", "/m1..m2", "/m1..m2?as=side"):
        html = Client().get(f"/s/{session.public_id}/checkpoints{place}").content.decode()
        assert "<script>alert" not in html, place
        assert "<img src=x" not in html, place
        assert "\u202e" not in html, place
        assert 'href="https://evil' not in html, place


def test_a_long_text_is_folded_and_can_be_read_whole(session: Session) -> None:
    text = "\n".join(f"line {number} of a long text with words" for number in range(300))
    make_summary(session, text=text)
    page = get(f"/s/{session.public_id}/checkpoints/m1")
    card = page.one("section", id="text")
    assert len(card.one("table").text) < 6_000
    folded = figures(card.one("tr", cls="fold").text)[0]
    assert folded + len(card.all("tr", id=r"l\d+")) == 300
    whole = get(card.all("a")[-1].attributes["href"].partition("#")[0])
    assert len(whole.one("section", id="text").all("tr", id=r"l\d+")) == 300


def test_a_text_that_no_page_can_hold_leads_to_its_pieces(session: Session) -> None:
    make_summary(session, text="\n".join(f"line {number} {'<&>' * 40}" for number in range(3_000)))
    response = Client().get(f"/s/{session.public_id}/checkpoints/m1?text=all")
    assert len(response.content) < 100_000
    address = page_of(response.content.decode()).one("section", id="text").all("a")[-1].attributes["href"]
    assert "/body/" in address
    assert "line 0" in get(address).one("pre").text


@pytest.mark.parametrize("place", ["9", "m1", "1..9", "m1..1", "9/range", "x"])
def test_a_checkpoint_that_is_not_there_is_not_found(session: Session, place: str) -> None:
    get(f"/s/{session.public_id}/checkpoints/{place}", status=404)
    parts = place.replace("..", f"/diff/{session.public_id}-")
    assert Client().get(f"/api/v1/checkpoints/{session.public_id}-{parts}").status_code == 404


def test_a_compaction_or_a_block_leads_to_its_checkpoint(session: Session) -> None:
    assert session.current is not None
    second = checkpoints_of(session=session, revision=session.current)[1]
    for query in (f"compaction={second.compaction}", f"block={second.places[0]}"):
        response = Client().get(f"/s/{session.public_id}/checkpoints?{query}")
        assert (response.status_code, response.headers["Location"]) == (302, f"/s/{session.public_id}/checkpoints/2")
    assert Client().get(f"/s/{session.public_id}/checkpoints?compaction=99").status_code == 200


def test_other_pages_lead_to_the_checkpoint(session: Session) -> None:
    assert session.current is not None
    first = checkpoints_of(session=session, revision=session.current)[0]
    ledger = get(f"/s/{session.public_id}/ledger")
    wanted = f"checkpoints?compaction={first.compaction}"
    assert wanted in [link.attributes["href"] for link in ledger.all("a")]
    view = get(f"/s/{session.public_id}/view/{first.before_call}")
    assert f"../checkpoints?block={first.places[0]}" in [link.attributes["href"] for link in view.all("a")]
    fate = get(f"/s/{session.public_id}/b/{first.places[0]}")
    assert f"/s/{session.public_id}/checkpoints?block={first.places[0]}" in [link.attributes.get("href") for link in fate.all("a")]
    overview = get(f"/s/{session.public_id}/")
    assert f"/s/{session.public_id}/{wanted}" in [link.attributes.get("href") for link in overview.all("a")]
