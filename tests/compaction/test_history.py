"""The fold, by example."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compaction.edits import clear, remove, restore, summarise
from compaction.errors import TranscriptError
from compaction.history import fate_of, fold, view_at
from compaction.messages import BlockId, Body
from compaction.transcript import Appended, Event, Shown
from tests.compaction.lanes import SIZES, called, edited, message, said, tool_result, tool_use


def _view(events: list[Event], n: int) -> list[str]:
    return [str(span.block) for span in view_at(fold(events, SIZES), n)]


def test_a_summary_stands_where_the_first_block_that_it_replaces_stood() -> None:
    events = [
        *said(message(1, "user", "task"), message(2, "assistant", "one"), message(3, "user", "two")),
        called(1),
        Appended(message=message(4, "user", "summary")),
        edited(summarise([BlockId(1, 1), BlockId(2, 1)], [4])),
        *said(message(5, "assistant", "next")),
        called(2),
    ]
    assert _view(events, 1) == ["1.1", "2.1", "3.1"]
    assert _view(events, 2) == ["4.1", "3.1", "5.1"]


def test_a_summary_of_everything_comes_before_what_is_said_later() -> None:
    events = [
        *said(message(1, "user", "task"), message(2, "assistant", "one")),
        called(1),
        Appended(message=message(3, "user", "summary")),
        edited(summarise([BlockId(2, 1), BlockId(1, 1)], [3])),
        *said(message(4, "user", "go on")),
        called(2),
    ]
    assert _view(events, 2) == ["3.1", "4.1"]
    positions = {str(span.block): span.position for span in fold(events, SIZES).spans}
    assert positions["3.1"] < positions["1.1"] < positions["2.1"] < positions["4.1"]


def test_a_block_that_a_rewind_takes_and_brings_back_has_two_spans() -> None:
    events = [
        *said(message(1, "user", "task"), message(2, "assistant", "left")),
        called(1),
        edited(remove([BlockId(2, 1)]), mechanism="rewind"),
        *said(message(3, "assistant", "right")),
        called(2),
        edited(remove([BlockId(3, 1)]), restore([2]), mechanism="rewind"),
        called(3),
    ]
    history = fold(events, SIZES)
    assert [(span.from_call, span.to_call) for span in history.spans if span.block == BlockId(2, 1)] == [(1, 2), (3, None)]
    assert [folded.index for folded in history.compactions] == [None, None]
    assert fate_of(history, BlockId(3, 1)).life.end == "remove"


def test_a_cleared_result_comes_back_cleared() -> None:
    use, result = BlockId(1, 1), BlockId(2, 1)
    events = [
        *said(tool_use(1, "t"), tool_result(2, "t", "a long result")),
        called(1),
        edited(clear(result, unit_tokens=2), mechanism="clear_tool_result"),
        called(2),
        edited(remove([use, result]), mechanism="rewind"),
        called(3),
        edited(restore([1, 2]), mechanism="rewind"),
        called(4),
    ]
    history = fold(events, SIZES)
    assert [(span.state, span.estimate) for span in view_at(history, 4)] == [("whole", 3), ("cleared", 2)]
    assert view_at(history, 4)[1].body is None


def test_a_state_given_while_a_block_is_away_does_not_change_what_earlier_calls_saw() -> None:
    events = [
        *said(message(1, "user", "task"), message(2, "user", "text")),
        called(1),
        edited(remove([BlockId(2, 1)]), mechanism="rewind"),
        edited(clear(BlockId(2, 1), unit_tokens=2), base=(BlockId(1, 1), BlockId(2, 1))),
        called(2),
        edited(restore([2]), mechanism="rewind"),
        called(3),
    ]
    history = fold(events, SIZES)
    assert [span.state for span in history.spans if span.block == BlockId(2, 1)] == ["whole", "cleared"]


def test_two_hundred_messages_put_after_the_same_block_keep_their_order() -> None:
    events: list[Event] = [*said(message(1, "user", "a"), message(2, "user", "b"))]
    for seq in range(3, 203):
        events += [Appended(message=message(seq, "user", "x")), edited(restore([seq], after=BlockId(1, 1)))]
    events.append(called(1))
    assert _view(events, 1) == ["1.1", *(f"{seq}.1" for seq in range(202, 2, -1)), "2.1"]


def test_what_was_taken_before_any_call_saw_it_counts_as_never_sent() -> None:
    events = [
        *said(message(1, "user", "seen")),
        called(1),
        *said(message(2, "user", "unseen")),
        edited(remove([BlockId(1, 1), BlockId(2, 1)])),
        called(2),
    ]
    history = fold(events, SIZES)
    (folded,) = history.compactions
    assert (folded.edits, folded.never_sent, folded.before_call) == (2, 1, 2)
    assert (folded.estimate_before, folded.removed, folded.added, folded.estimate_after) == (10, 10, 0, 0)
    lives = dict(history.lives())
    assert lives[BlockId(2, 1)].end == "never_sent"
    assert lives[BlockId(1, 1)].end == "remove"


def test_a_block_that_came_and_went_twice_between_two_calls_was_never_sent() -> None:
    unseen = BlockId(2, 1)
    events = [
        *said(message(1, "user", "seen"), message(2, "user", "unseen")),
        edited(remove([unseen]), restore([2]), remove([unseen])),
        called(1),
    ]
    history = fold(events, SIZES)
    assert [entry.never_sent for entry in history.ledger if not entry.adds] == [True, True]
    assert [span.block for span in history.spans] == [BlockId(1, 1)]


def test_a_spill_before_sending_is_in_the_ledger_but_has_no_index() -> None:
    unsent = edited(clear(BlockId(2, 1), Body.of("cut")), mechanism="spill")
    history = fold([*said(tool_use(1, "t"), tool_result(2, "t")), unsent, called(1), edited(remove([BlockId(1, 1), BlockId(2, 1)]))], SIZES)
    assert [(folded.ordinal, folded.index) for folded in history.compactions] == [(1, None), (2, 1)]
    assert history.ledger[0].never_sent


def test_a_compaction_on_another_branch_is_booked_and_the_view_stays() -> None:
    events = [
        *said(message(1, "user", "task"), message(2, "assistant", "side")),
        called(1),
        edited(remove([BlockId(2, 1)]), mechanism="rewind"),
        Appended(message=message(3, "user", "summary")),
        edited(summarise([BlockId(1, 1), BlockId(2, 1)], [3]), base=(BlockId(1, 1), BlockId(2, 1))),
        *said(message(4, "assistant", "main")),
        called(2),
    ]
    history = fold(events, SIZES)
    detached = history.compactions[1]
    assert (detached.estimate_before, detached.removed, detached.added, detached.estimate_after) == (8, 8, 7, 7)
    assert (detached.edits, detached.never_sent, detached.before_call) == (2, 0, None)
    assert _view(events, 2) == ["1.1", "4.1"]


def test_the_last_answer_is_visible_although_no_call_has_seen_it() -> None:
    history = fold([*said(message(1, "user", "task")), called(1), *said(message(2, "assistant", "done"))], SIZES)
    assert history.waiting == (BlockId(2, 1),)
    assert [span.block for span in history.spans] == [BlockId(1, 1)]
    life = dict(history.lives())[BlockId(2, 1)]
    assert (life.first_call, life.end) == (None, "visible")


def test_fate_names_the_summary_that_stands_for_a_block() -> None:
    events = [
        *said(message(1, "user", "task")),
        called(1),
        Appended(message=message(2, "user", "short")),
        edited(summarise([BlockId(1, 1)], [2])),
        called(2),
    ]
    fate = fate_of(fold(events, SIZES), BlockId(1, 1))
    assert fate.carried_by == (BlockId(2, 1),)
    assert (fate.life.first_call, fate.life.last_call, fate.life.end) == (1, 1, "summarise")


def test_an_orphan_that_the_source_made_is_a_finding_with_its_line() -> None:
    events = [
        *said(tool_use(1, "t"), tool_result(2, "t")),
        called(1),
        edited(remove([BlockId(1, 1)])),
        called(2),
        called(3),
    ]
    assert [(finding.code, finding.line) for finding in fold(events, SIZES).findings] == [("orphan_result", 2)]


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([tool_use(1, "t"), message(2, "user", "go on")], "unanswered_use"),
        ([tool_result(1, "t"), tool_use(2, "t")], "result_before_use"),
        ([tool_use(1, "t"), tool_result(2, "t"), tool_use(3, "t")], "duplicate_tool_id"),
        ([message(1, "user", "a"), message(2, "user", "b")], "consecutive_user"),
    ],
)
def test_a_view_that_breaks_the_protocol_says_so_once(messages: list, code: str) -> None:
    findings = fold([*said(*messages), called(1), called(2)], SIZES).findings
    assert [finding.code for finding in findings] == [code]


def test_a_broken_place_that_leaves_and_comes_back_is_not_reported_again() -> None:
    rewound = edited(remove([BlockId(1, 1)]), restore([1]), mechanism="rewind")
    findings = fold([*said(tool_use(1, "t")), called(1), rewound, called(2)], SIZES).findings
    assert [finding.code for finding in findings] == ["unanswered_use"]


def test_a_user_text_after_tool_results_is_no_second_turn() -> None:
    assert fold([*said(tool_use(1, "t"), tool_result(2, "t"), message(3, "user", "next")), called(1)], SIZES).findings == ()


def test_a_pair_that_a_call_never_saw_broken_is_no_finding() -> None:
    assert fold([*said(tool_use(1, "t")), *said(tool_result(2, "t")), called(1)], SIZES).findings == ()


def test_blocks_that_are_not_numbered_from_one_are_refused() -> None:
    one = message(1, "user", "a")
    wrong = replace(one, blocks=(replace(one.blocks[0], id=BlockId(1, 2)),))
    with pytest.raises(TranscriptError, match=r"not numbered 1\.1, 1\.2"):
        fold([Appended(message=wrong)], SIZES)


def test_a_message_shown_twice_stays_where_it_is_with_a_finding() -> None:
    history = fold([*said(message(1, "user", "a")), Shown(seqs=(1,)), called(1)], SIZES)
    assert [finding.code for finding in history.findings] == ["shown_twice"]
    assert len(history.spans) == 1


def test_an_edit_of_a_block_that_the_view_does_not_hold_is_a_finding_with_its_line() -> None:
    history = fold([*said(message(1, "user", "a")), edited(remove([BlockId(9, 1)]), line=77)], SIZES)
    assert [(finding.code, finding.line) for finding in history.findings] == [("edit_of_absent_block", 77)]
    assert history.ledger == ()


def test_a_message_that_was_never_logged_cannot_be_shown() -> None:
    with pytest.raises(TranscriptError, match="message 7 enters the view but was never logged"):
        fold([Shown(seqs=(7,))], SIZES)


def test_the_fate_of_a_block_that_was_never_shown_is_refused() -> None:
    with pytest.raises(TranscriptError, match=r"block 1\.1 was never part of a view"):
        fate_of(fold([Appended(message=message(1, "user", "a"))], SIZES), BlockId(1, 1))


def test_a_gap_in_seq_is_refused_with_its_line() -> None:
    with pytest.raises(TranscriptError, match=r"message 2 \(line 2\) follows message 0"):
        fold(said(message(2, "user", "a")), SIZES)


def test_a_call_out_of_order_is_refused() -> None:
    with pytest.raises(TranscriptError, match=r"call 2 .* follows call 0"):
        fold([called(2)], SIZES)
