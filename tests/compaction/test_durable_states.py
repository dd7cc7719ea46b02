"""States as canonical JSON, their differences, and which may follow which."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.durable.canonical import state_digest, state_from, state_from_json, state_to_json
from compaction.durable.pending import transition_pending_item
from compaction.durable.succession import check_successor, difference
from compaction.durable.values import DurableContextState
from compaction.errors import DurableError, PendingItemUnknown, SuccessionError
from tests.compaction.durable_states import EARLY, LATE, evidence, fact, item, states

pytestmark = pytest.mark.nodb


def state(**lists: Any) -> DurableContextState:
    return DurableContextState(**lists)


@given(states)
def test_a_state_comes_back_from_its_json_as_it_was(one: DurableContextState) -> None:
    text = state_to_json(one)
    assert state_from_json(text) == one
    assert state_to_json(state_from_json(text)) == text
    assert text.isascii()
    assert "\n" not in text


@given(states, states)
def test_equal_states_have_equal_digests_and_others_differ(one: DurableContextState, other: DurableContextState) -> None:
    assert (state_digest(one) == state_digest(other)) == (one == other)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "not_json"),
        ("[" * 100_000, "not_json"),
        ("[]", "wrong_kind"),
        ('{"facts": {}}', "wrong_kind"),
        ('{"facts": "no"}', "wrong_kind"),
        ('{"facts": [1]}', "wrong_kind"),
        ('{"fact": []}', "unknown_field"),
        ('{"facts": [{"id": "x"}]}', "unknown_field"),
        ('{"facts": [{}]}', "empty_field"),
        (
            '{"retrieval_traces": [{"trace_id": "t", "query": "q", "captured_at": "2026-10-01T09:00:00Z", "decisions": [{}]}]}',
            "empty_field",
        ),
        ('{"pending_items": [{"item_id": "p", "status": null}]}', "not_plain_text"),
    ],
)
def test_what_is_no_state_is_refused(text: str, code: str) -> None:
    with pytest.raises(DurableError) as refused:
        state_from_json(text)
    assert refused.value.code == code


def test_a_list_that_is_too_long_is_refused() -> None:
    facts = [{"fact_id": str(one), "content": "x", "source_pointer": "p", "last_confirmed_at": EARLY} for one in range(3)]
    assert len(state_from({"facts": facts}, most_items=3).facts) == 3
    with pytest.raises(DurableError) as refused:
        state_from({"facts": facts}, most_items=2)
    assert refused.value.code == "too_many_items"


def test_an_absent_list_is_empty() -> None:
    assert state_from({}) == state_from({"facts": None}) == DurableContextState()


@given(states)
def test_a_state_does_not_differ_from_itself_and_may_follow_itself(one: DurableContextState) -> None:
    assert difference(one, one).is_empty
    assert check_successor(one, one).is_empty


@given(states, states)
def test_the_difference_names_exactly_what_is_not_equal(before: DurableContextState, after: DurableContextState) -> None:
    found = difference(before, after)
    assert found.is_empty == (before == after)
    for change in found.changes:
        assert (change.before is None) == (change.change == "added")
        assert (change.after is None) == (change.change == "removed")
        assert bool(change.fields) == (change.change == "changed")


def test_the_difference_tells_fields_and_order() -> None:
    before = state(facts=(fact("a"), fact("b"), fact("gone")))
    after = state(facts=(fact("b"), fact("a", content="Another port."), fact("new")))
    found = difference(before, after)
    assert [(one.change, one.id) for one in found.changes] == [("removed", "gone"), ("changed", "a"), ("added", "new")]
    assert [(one.field, one.before, one.after) for one in found.changes[1].fields] == [("content", "The port is 8000.", "Another port.")]
    assert found.reordered == ("facts",)


ILLEGAL = [
    ("done_item_changed", item(status="done"), item(status="done", description="other")),
    ("done_item_changed", item(status="done"), item(status="open", last_confirmed_at=LATE)),
    ("done_item_removed", item(status="done"), None),
    ("removal_without_reason", item(), None),
    ("confirmation_not_later", item(), item(status="done")),
    ("confirmation_not_later", item(), item(status="done", last_confirmed_at="2026-10-01T11:00:00+02:00")),
    ("reason_not_cleared", item(status="blocked", reason="r"), item(status="open", reason="r", last_confirmed_at=LATE)),
]


@pytest.mark.parametrize(("code", "before", "after"), ILLEGAL)
def test_an_illegal_successor_is_refused_with_its_item(code: str, before: Any, after: Any) -> None:
    with pytest.raises(SuccessionError) as refused:
        check_successor(state(pending_items=(before,)), state(pending_items=(after,) if after else ()), reason="  ")
    assert (refused.value.code, refused.value.figures["id"]) == (code, "p")


def test_a_done_item_cannot_be_removed_with_a_reason_either() -> None:
    with pytest.raises(SuccessionError, match="done"):
        check_successor(state(pending_items=(item(status="done"),)), state(), reason="tidy up")


def test_other_removals_need_a_reason_in_every_list() -> None:
    for lists in ({"facts": (fact(),)}, {"retrieval_evidence": (evidence(),)}, {"pending_items": (item(),)}):
        with pytest.raises(SuccessionError):
            check_successor(state(**lists), state())
        assert check_successor(state(**lists), state(), reason="it was wrong").changes[0].change == "removed"


@given(states, st.sampled_from(["open", "blocked", "done"]), st.sampled_from([EARLY, LATE, "9999-12-31T23:59:59-23:59"]))
def test_what_a_transition_makes_may_follow(one: DurableContextState, status: Any, time: str) -> None:
    for pending in one.pending_items:
        moved = None
        with contextlib.suppress(DurableError):  # the moves that are not legal are told one by one elsewhere
            moved = transition_pending_item(
                one, pending.item_id, status, last_confirmed_at=time, source_pointer="transcript:s:9", reason="waits"
            )
        assert moved is None or [change.id for change in check_successor(one, moved).changes] == [pending.item_id]
        assert moved is None or replace(moved, pending_items=one.pending_items) == one


def test_a_move_without_a_pointer_keeps_the_old_one_only_on_the_way_to_open() -> None:
    blocked = state(pending_items=(item(status="blocked", reason="r"),))
    opened = transition_pending_item(blocked, " p ", "open", last_confirmed_at=LATE)
    assert (opened.pending_items[0].source_pointer, opened.pending_items[0].reason) == ("transcript:s:2", None)
    with pytest.raises(DurableError, match="source_pointer"):
        transition_pending_item(blocked, "p", "done", last_confirmed_at=LATE)
    with pytest.raises(PendingItemUnknown):
        transition_pending_item(blocked, "q", "done", last_confirmed_at=LATE)
