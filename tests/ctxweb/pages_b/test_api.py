"""The JSON twins: what they give, how they are paged, how they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxweb.models import Session
from tests.ctxweb.pages_b.rows import CALLS, HIDDEN, REATTACHED, make_session

pytestmark = pytest.mark.django_db
API = "/api/v1"


@pytest.fixture
def session() -> Session:
    return make_session(turns=7, name="a")


def get(address: str) -> Any:
    response = Client().get(f"{API}{address}")
    assert response.status_code == 200, response.content
    return response.json()


def queries(address: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        get(address)
    return len(captured)


def test_messages_come_in_windows_that_join_without_a_gap_or_a_double(session: Session) -> None:
    after: str | None = ""
    seen: list[str] = []
    windows = 0
    while after is not None:
        window = get(f"/sessions/{session.public_id}/messages?limit=10&after={after}")
        seen += [block["block"] for message in window["messages"] for block in message["blocks"]]
        after, windows = window["next"], windows + 1
    assert len(seen) == len(set(seen)) == session.block_count == window["total"]
    assert windows == -(-session.block_count // 10)


def test_a_message_without_blocks_is_there(session: Session) -> None:
    from ctxweb.models import Block

    Block.objects.filter(revision=session.current, seq=1).delete()
    window = get(f"/sessions/{session.public_id}/messages?limit=10")
    assert [message["seq"] for message in window["messages"]][:2] == [1, 2]
    assert window["messages"][0]["blocks"] == []


@pytest.mark.parametrize(
    ("query", "kinds"),
    [("role=assistant", {"thinking", "tool_use"}), ("kind=tool_result", {"tool_result"}), ("tool=Read", {"tool_use", "tool_result"}),
     ("lane=attached", {"text"}), ("state=cleared", set())],
)  # fmt: skip
def test_a_filter_keeps_what_it_names_and_counts_it(session: Session, query: str, kinds: set[str]) -> None:
    window = get(f"/sessions/{session.public_id}/messages?{query}")
    blocks = [block for message in window["messages"] for block in message["blocks"]]
    assert {block["kind"] for block in blocks} == kinds
    assert window["matching"] == len(blocks) or window["next"]
    assert window["total"] == session.block_count


def test_a_view_is_what_was_visible_in_the_order_of_the_prompt(session: Session) -> None:
    view = get(f"/histories/{session.public_id}r/calls/2/view")
    assert [block["block"] for block in view["blocks"]] == ["1.1", "2.1", "2.2", "3.1"]
    assert [block["kind"] for block in view["blocks"]] == ["text", "thinking", "tool_use", "tool_result"]
    assert sum(block["estimate"] for block in view["blocks"]) == view["call"]["estimate"] == 400


def test_the_hidden_tokens_of_a_call_add_up_to_its_unexplained_ones(session: Session) -> None:
    first_after_summary = 3 * CALLS + 1
    view = get(f"/histories/{session.public_id}r/calls/{first_after_summary}/view")
    hidden = view["hidden"]
    assert (hidden["before_log"], hidden["reattached"], hidden["drift"]) == (HIDDEN, REATTACHED, 0)
    assert hidden["before_log"] + hidden["reattached"] + hidden["drift"] == view["call"]["unexplained"]


def test_two_calls_are_compared_by_added_changed_unchanged_and_left_blocks(session: Session) -> None:
    n = CALLS + 1  # the oldest result was cleared before it
    view = get(f"/histories/{session.public_id}r/calls/{n}/view?against={n - 1}")
    change = view["change"]
    assert change["changed"] == 1
    assert change["added"] == 4
    assert change["added"] + change["changed"] + change["unchanged"] == view["call"]["blocks"] == len(view["blocks"])
    assert change["left"] == 0
    assert {block["block"] for block in view["blocks"] if block["since"] == "changed"} == {"3.1"}
    assert next(block for block in view["blocks"] if block["block"] == "3.1")["excerpt"] == "[Old tool result content cleared]"


def test_what_a_summary_took_is_named_with_the_edit_that_took_it(session: Session) -> None:
    n = 3 * CALLS + 1
    view = get(f"/histories/{session.public_id}r/calls/{n}/view?against={n - 1}")
    ghosts = get(f"/histories/{session.public_id}r/calls/{n}/ghosts?against={n - 1}")
    assert view["change"]["left"] == ghosts["total"] == len(ghosts["ghosts"])
    assert view["change"]["left_tokens"] == ghosts["total_tokens"]
    assert {ghost["taker"]["action"] for ghost in ghosts["ghosts"]} == {"summarise"}
    assert {ghost["taker"]["before_call"] for ghost in ghosts["ghosts"]} == {n}


def test_looking_back_nothing_left_it_was_logged_later(session: Session) -> None:
    ghosts = get(f"/histories/{session.public_id}r/calls/2/ghosts?against=3")
    assert {ghost["reason"] for ghost in ghosts["ghosts"]} == {"logged_later"}


def test_the_view_after_the_last_call_is_what_the_next_one_would_get(session: Session) -> None:
    view = get(f"/histories/{session.public_id}r/calls/{session.call_count + 1}/view")
    assert view["call"]["is_next"]
    assert view["call"]["prompt_tokens"] is None
    assert sum(view["call"]["kinds"]) == view["call"]["estimate"] == sum(block["estimate"] for block in view["blocks"])


def test_an_attachment_may_have_been_sent_and_is_not_counted(session: Session) -> None:
    view = get(f"/histories/{session.public_id}r/calls/{session.call_count + 1}/view")
    assert [row["excerpt"] for row in view["attachments"]] == ["Attached: line of text"]
    assert view["attachments"][0]["block"] not in {block["block"] for block in view["blocks"]}
    assert get(f"/histories/{session.public_id}r/calls/1/view")["attachments"] == []


def test_each_compaction_balances_and_its_reported_sizes_add_up(session: Session) -> None:
    rows = get(f"/histories/{session.public_id}r")["compactions"]
    assert [row["mechanism"] for row in rows] == ["clear_tool_result", "clear_tool_result", "summary"] * 2
    for row in rows:
        assert row["estimate_before"] - row["removed"] + row["added"] == row["estimate_after"]
        sizes = row["reported"]
        assert sizes["before"] + sizes["entered"] - sizes["removed"] + sizes["added"] + sizes["change"] == sizes["after"]


def test_the_ledger_holds_every_edit_once_and_filters_it(session: Session) -> None:
    whole = get(f"/histories/{session.public_id}r/ledger")
    assert whole["matching"] == whole["total"] == sum(row["edits"] for row in get(f"/histories/{session.public_id}r")["compactions"])
    cleared = get(f"/histories/{session.public_id}r/ledger?action=clear")
    assert {edit["action"] for edit in cleared["edits"]} == {"clear"}
    assert cleared["matching"] == 4
    assert get(f"/histories/{session.public_id}r/ledger?kind=tool_use&path=file_2")["matching"] < whole["matching"]
    assert {edit["layer"] for edit in get(f"/histories/{session.public_id}r/ledger?layer=summary")["edits"]} == {"summary"}


def test_the_fate_of_a_block_has_its_states_its_edits_and_what_stands_for_it(session: Session) -> None:
    fate = get(f"/histories/{session.public_id}r/blocks/3.1/fate")
    assert [(span["state"], span["from_call"], span["to_call"]) for span in fate["spans"]] == [
        ("whole", 2, CALLS + 1),
        ("cleared", CALLS + 1, 3 * CALLS + 1),
    ]
    assert [edit["action"] for edit in fate["edits"]] == ["clear", "summarise"]
    assert [carrier["kind"] for carrier in fate["carried_by"]] == ["compaction"]
    assert fate["sent"] == 3 * CALLS - 1
    assert fate["same_file"]["path"] == fate["block"]["path"]


NAMED = (
    "/sessions/{s}/messages", "/sessions/{s}/report", "/sessions/{s}/records", "/sessions/{s}/records/1", "/histories/{s}r",
    "/histories/{s}r/calls/1/view", "/histories/{s}r/ledger", "/histories/{s}r/blocks/1.1/fate", "/histories/{s}r/calls/1/ghosts?against=2",
)  # fmt: skip


def test_a_foreign_id_answers_like_a_missing_one() -> None:
    Session.objects.filter(pk=make_session(turns=1, name="b").pk).update(current=None)
    for address in NAMED:
        missing = Client().get(API + address.format(s="session0000zzzz0000"))
        foreign = Client().get(API + address.format(s="session0000b0000"))
        assert missing.status_code == foreign.status_code == 404, address
        assert missing.json() == foreign.json()
        assert missing.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("address", ["/messages?after=x", "/messages?limit=0", "/messages?limit=201", "/records?after=1.5"])
def test_a_wrong_page_is_refused_with_a_sentence(session: Session, address: str) -> None:
    response = Client().get(f"{API}/sessions/{session.public_id}{address}")
    assert response.status_code == 422
    assert set(response.json()["error"]) == {"code", "message"}


GROWING = (
    "/sessions/{s}/messages", "/sessions/{s}/messages?role=assistant&lane=path", "/sessions/{s}/records", "/histories/{s}r",
    "/histories/{s}r/calls/16/view?against=15", "/histories/{s}r/calls/16/ghosts?against=15", "/histories/{s}r/ledger?kind=tool_use",
    "/histories/{s}r/blocks/3.1/fate",
)  # fmt: skip


def test_the_number_of_queries_does_not_grow_with_the_session() -> None:
    make_session(turns=4, name="small")
    make_session(turns=60, name="large")
    for address in GROWING:
        assert queries(address.format(s="session0000small0000")) == queries(address.format(s="session0000large0000")), address
