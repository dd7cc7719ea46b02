"""The frozen view, and what is asked of a planned batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.counters.units import unit_named
from compaction.edits import clear, remove, restore, spill, state_edit, summarise, truncate
from compaction.errors import EditError, OrphanError
from compaction.messages import Block, BlockId, Body, Message
from compaction.pricing import Pricer
from compaction.transcript import Edit
from compaction.view import Applied, Plan, PromptView
from compaction.wire import read_wire
from tests.compaction.lanes import block, message, tool_result, tool_use

PAIR = (tool_use(2, "t"), tool_result(3, "t", "a long result"))
SUMMARY = message(5, "user", "short")


def _pricer(unit: str = "exact") -> Pricer:
    return Pricer(unit_named(unit), count=len)


def _view(unit: str = "exact") -> PromptView:
    return PromptView.of([message(1, "user", "task"), *PAIR, message(4, "assistant", "answer")], _pricer(unit))


def _ids(view: PromptView) -> list[str]:
    return [str(visible.block.id) for visible in view.blocks]


def _apply(view: PromptView, *edits: Edit, added: tuple[Message, ...] = ()) -> Applied:
    return view.apply(Plan(edits=edits, added=added), layer="test")


def test_apply_gives_the_next_view_and_leaves_this_one_as_it_was() -> None:
    view = _view()
    applied = _apply(view, remove([BlockId(2, 1), BlockId(3, 1)]))
    assert _ids(applied.view) == ["1.1", "4.1"]
    assert _ids(view) == ["1.1", "2.1", "3.1", "4.1"]
    assert (view.tokens, applied.view.tokens) == (26, 10)


def test_a_message_that_a_batch_does_not_touch_is_the_same_object_in_the_next_view() -> None:
    view = _view()
    after = _apply(view, remove([BlockId(4, 1)])).view
    assert all(kept is old for kept, old in zip(after.messages, view.messages, strict=False))


def test_a_plan_without_edits_gives_the_very_view() -> None:
    view = _view()
    assert _apply(view).view is view


def test_a_state_survives_into_the_next_view() -> None:
    cut = _apply(_view(), truncate(BlockId(3, 1), Body.of("a long"))).view
    later = _apply(cut, remove([BlockId(4, 1)])).view
    assert [(visible.state, visible.tokens) for visible in later.blocks] == [("whole", 4), ("whole", 3), ("truncated", 6)]


def test_a_summary_stands_in_the_place_of_what_it_replaces_and_names_its_layer() -> None:
    applied = _apply(_view(), summarise([BlockId(1, 1), BlockId(2, 1), BlockId(3, 1)], [5]), added=(SUMMARY,))
    assert _ids(applied.view) == ["5.1", "4.1"]
    assert applied.view.next_seq == 6
    assert [(entry.verb, entry.layer) for entry in applied.entries if entry.adds] == [("summarise", "test")]


def test_an_added_message_can_stand_after_a_block_or_at_the_end() -> None:
    assert _ids(_apply(_view(), restore([5], after=BlockId(1, 1)), added=(SUMMARY,)).view) == ["1.1", "5.1", "2.1", "3.1", "4.1"]
    assert _ids(_apply(_view(), restore([5]), added=(SUMMARY,)).view) == ["1.1", "2.1", "3.1", "4.1", "5.1"]


def test_a_message_is_never_put_inside_another() -> None:
    view = PromptView.of([message(1, "user", "a", "b", "c")], _pricer())
    added = message(2, "user", "short")
    with pytest.raises(EditError, match=r"between blocks 1\.1 and 1\.3"):
        _apply(view, summarise([BlockId(1, 2)], [2]), added=(added,))
    assert _ids(_apply(view, summarise([BlockId(1, 2), BlockId(1, 3)], [2]), added=(added,)).view) == ["1.1", "2.1"]
    assert _ids(_apply(view, summarise([BlockId(1, 1)], [2]), added=(added,)).view) == ["2.1", "1.2", "1.3"]


@pytest.mark.parametrize("block", [BlockId(2, 1), BlockId(3, 1)])
def test_a_planned_batch_that_splits_an_interaction_is_refused(block: BlockId) -> None:
    with pytest.raises(OrphanError, match="tool id t"):
        _apply(_view(), remove([block]))


def test_an_added_call_without_a_result_is_refused() -> None:
    with pytest.raises(OrphanError, match="tool id new"):
        _apply(_view(), restore([5]), added=(tool_use(5, "new"),))


def test_a_second_call_of_one_id_does_not_hide_that_its_result_went() -> None:
    view = PromptView.of([tool_use(1, "t"), tool_use(2, "t"), tool_result(3, "t")], _pricer())
    with pytest.raises(OrphanError):
        _apply(view, remove([BlockId(1, 1), BlockId(3, 1)]))


def test_the_batch_is_the_unit_of_validity() -> None:
    assert _ids(_apply(_view(), remove([BlockId(2, 1)]), remove([BlockId(3, 1)])).view) == ["1.1", "4.1"]


def test_an_orphan_that_was_there_before_does_not_stop_a_batch() -> None:
    view = PromptView.of([tool_result(1, "gone"), message(2, "user", "task")], _pricer())
    assert _ids(_apply(view, remove([BlockId(2, 1)])).view) == ["1.1"]
    assert _ids(_apply(view, remove([BlockId(1, 1)])).view) == ["2.1"]


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (truncate(BlockId(1, 1), Body.of("longer than the task")), "must be shorter"),
        (truncate(BlockId(1, 1), Body.of("mask")), "must be shorter"),
        (clear(BlockId(7, 1), Body.of("")), "is not in the view"),
        (clear(BlockId(1, 1), unit_tokens=1), "has no body"),
        (remove([BlockId(7, 1)]), "is not in the view"),
        (remove([BlockId(1, 2)]), "is not in the view"),
        (restore([5], after=BlockId(7, 1)), "are added"),
        (Edit(verb="clear", block=BlockId(1, 1), state="cleared"), "neither a body nor unit_tokens"),
        (Edit(verb="clear", block=BlockId(1, 1), unit_tokens=1), "has no new state"),
        (Edit(verb="clear", takes=(BlockId(1, 1),)), "changes one block"),
        (Edit(verb="remove", takes=(BlockId(1, 1),), unit_tokens=1), "cannot carry a state"),
        (Edit(verb="clear", block=BlockId(1, 1), state="cleared", unit_tokens=1, puts=(1,)), "make it two edits"),
        (remove([]), "neither takes nor puts"),
        (Edit(verb="restore", takes=(BlockId(1, 1),), puts=(1,)), "restore only adds"),
    ],
)
def test_an_edit_that_cannot_be_carried_out_says_why(edit: Edit, reason: str) -> None:
    with pytest.raises(EditError, match=reason):
        _apply(_view(), edit)


def test_an_added_message_needs_an_edit_that_puts_it_after_a_block_of_the_view() -> None:
    with pytest.raises(EditError, match=r"7\.1 is not in the view"):
        _apply(_view(), restore([5], after=BlockId(7, 1)), added=(SUMMARY,))
    with pytest.raises(EditError, match="put once"):
        _apply(_view(), remove([BlockId(4, 1)]), added=(SUMMARY,))
    with pytest.raises(EditError, match="must run from 5"):
        _apply(_view(), restore([6]), added=(message(6, "user", "x"),))
    with pytest.raises(EditError, match=r"must be 5\.1"):
        _apply(_view(), restore([5]), added=(message(5, "user"),))


def test_a_block_that_the_batch_took_or_changed_already_cannot_be_taken_again() -> None:
    with pytest.raises(EditError, match=r"4\.1 is not in the view any more"):
        _apply(_view(), remove([BlockId(4, 1)]), remove([BlockId(4, 1)]))
    with pytest.raises(EditError, match=r"4\.1 is changed and taken"):
        _apply(_view(), clear(BlockId(4, 1), Body.of("")), remove([BlockId(4, 1)]))
    with pytest.raises(EditError, match=r"change block 4\.1"):
        _apply(_view(), clear(BlockId(4, 1), Body.of("")), clear(BlockId(4, 1), Body.of("")))


def test_each_verb_of_a_state_edit_names_its_state() -> None:
    body = Body.of("x")
    edits = [
        truncate(BlockId(1, 1), body),
        clear(BlockId(1, 1), body),
        spill(BlockId(1, 1), body),
        state_edit("replace", BlockId(1, 1), body),
    ]
    assert [edit.state for edit in edits] == ["truncated", "cleared", "spilled", "replaced"]


def test_what_an_emptied_message_cost_is_booked_to_the_block_that_emptied_it() -> None:
    view = read_wire([{"role": "user", "content": "four"}, {"role": "user", "content": "four"}], _pricer("s14_chars4"))
    (entry,) = _apply(view, remove([BlockId(1, 1)])).entries
    assert (entry.own_before, entry.own_after, entry.tokens_before, entry.tokens_after) == (5, 0, 4, 0)


@given(
    taken=st.sets(st.sampled_from([1, 4, 5, 6, 7])),
    cut=st.booleans(),
    put=st.booleans(),
    unit=st.sampled_from(["s14_chars4", "s08_repr", "dsh_utf16", "exact", "estimate"]),
)
def test_both_sizes_balance_whatever_is_taken_cut_or_put(taken: set[int], cut: bool, put: bool, unit: str) -> None:
    two = Message(seq=7, role="user", origin="human", blocks=(block(7, 1, "x"), block(7, 2, "yy")), line=7, record=7)
    view = PromptView.of([message(1, "user", "a"), *PAIR, *(message(seq, "user", "b" * seq) for seq in (4, 5, 6)), two], _pricer(unit))
    edits = [remove([one.id for one in _blocks(seq)]) for seq in sorted(taken)]
    edits += [truncate(BlockId(3, 1), Body.of("a"))] if cut else []
    edits += [restore([8])] if put else []
    applied = _apply(view, *edits, added=(message(8, "user", "new", "blocks"),) if put else ())
    assert view.own + sum(one.own_after - one.own_before for one in applied.entries) == applied.view.own
    assert view.tokens + sum(one.tokens_after - one.tokens_before for one in applied.entries) == applied.view.tokens
    assert applied.view == PromptView.holding(applied.view.messages, applied.view.pricer, next_seq=applied.view.next_seq)


def _blocks(seq: int) -> list[Block]:
    return [block(seq, 1, ""), block(seq, 2, "")] if seq == 7 else [block(seq, 1, "")]
