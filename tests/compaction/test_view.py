"""The frozen view, and what is asked of a planned batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.edits import clear, remove, restore, spill, state_edit, summarise, truncate
from compaction.errors import EditError, OrphanError
from compaction.messages import BlockId, Body
from compaction.transcript import Edit
from compaction.view import PromptView
from tests.compaction.lanes import SIZES, message, tool_result, tool_use

PAIR = (tool_use(2, "t"), tool_result(3, "t", "a long result"))


def _view() -> PromptView:
    return PromptView.of([message(1, "user", "task"), *PAIR, message(4, "assistant", "answer")], SIZES)


def _ids(view: PromptView) -> list[str]:
    return [str(visible.block.id) for visible in view.blocks]


def test_apply_gives_the_next_view_and_leaves_this_one_as_it_was() -> None:
    view = _view()
    applied = view.apply([remove([BlockId(2, 1), BlockId(3, 1)])])
    assert _ids(applied.view) == ["1.1", "4.1"]
    assert _ids(view) == ["1.1", "2.1", "3.1", "4.1"]
    assert (applied.batch.before, applied.batch.removed, applied.batch.after) == (view.tokens, 16, applied.view.tokens)


def test_a_state_survives_into_the_next_view() -> None:
    cut = _view().apply([truncate(BlockId(3, 1), Body.of("a long"))]).view
    later = cut.apply([remove([BlockId(4, 1)])]).view
    assert [(visible.state, visible.tokens) for visible in later.blocks] == [("whole", 4), ("whole", 3), ("truncated", 6)]


def test_a_summary_put_by_a_planned_edit_stands_in_the_place_of_what_it_replaces() -> None:
    summary = message(9, "user", "short")
    applied = _view().apply([summarise([BlockId(1, 1), BlockId(2, 1), BlockId(3, 1)], [9])], added=[summary])
    assert _ids(applied.view) == ["9.1", "4.1"]
    assert [entry.verb for entry in applied.batch.entries if entry.adds] == ["summarise"]


@pytest.mark.parametrize("block", [BlockId(2, 1), BlockId(3, 1)])
def test_a_planned_batch_that_splits_an_interaction_is_refused(block: BlockId) -> None:
    with pytest.raises(OrphanError, match="tool id t"):
        _view().apply([remove([block])])


def test_the_batch_is_the_unit_of_validity() -> None:
    assert _ids(_view().apply([remove([BlockId(2, 1)]), remove([BlockId(3, 1)])]).view) == ["1.1", "4.1"]


def test_an_orphan_that_was_there_before_does_not_stop_a_batch() -> None:
    view = PromptView.of([tool_result(1, "gone"), message(2, "user", "task")], SIZES)
    assert _ids(view.apply([remove([BlockId(2, 1)])]).view) == ["1.1"]


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (truncate(BlockId(1, 1), Body.of("longer than the task")), "must be shorter"),
        (clear(BlockId(7, 1), unit_tokens=1), "is not in the view"),
        (remove([BlockId(7, 1)]), "is not in the view"),
        (restore([1], after=BlockId(7, 1)), "is not in the view"),
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
        _view().apply([edit])


def test_a_block_that_the_batch_took_already_cannot_be_taken_again() -> None:
    with pytest.raises(EditError, match=r"4\.1 is not in the view any more"):
        _view().apply([remove([BlockId(4, 1)]), remove([BlockId(4, 1)])])


def test_each_verb_of_a_state_edit_names_its_state() -> None:
    body = Body.of("x")
    edits = [
        truncate(BlockId(1, 1), body),
        clear(BlockId(1, 1), body),
        spill(BlockId(1, 1), body),
        state_edit("replace", BlockId(1, 1), body),
    ]
    assert [edit.state for edit in edits] == ["truncated", "cleared", "spilled", "replaced"]


@given(st.lists(st.sampled_from([1, 4, 5, 6]), unique=True))
def test_tokens_balance_whatever_is_taken(seqs: list[int]) -> None:
    view = PromptView.of([message(1, "user", "a"), *PAIR, *(message(seq, "user", "b" * seq) for seq in (4, 5, 6))], SIZES)
    edits = [remove([BlockId(seq, 1)]) for seq in seqs]
    applied = view.apply(edits)
    assert view.tokens - applied.batch.removed + applied.batch.added == applied.view.tokens
