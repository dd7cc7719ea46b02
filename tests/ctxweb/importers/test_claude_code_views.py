"""Views of Claude Code calls: the parent chain, its forks, and what compactions do to it."""

from __future__ import annotations

import pytest

from compaction.history import FoldedCompaction
from ctxweb.importers.claude_code import IMPORTER
from tests.ctxweb.importers.claude_code_records import Record, answer, boundary, micro, record, result, summary, text, turn, use, user
from tests.ctxweb.importers.readings import LaneReading, jsonl, read

pytestmark = pytest.mark.nodb


def lane(*records: Record | list[Record]) -> LaneReading:
    flat = [one for item in records for one in (item if isinstance(item, list) else [item])]
    return read(IMPORTER, jsonl(flat)).only


def events(folded: LaneReading) -> list[FoldedCompaction]:
    return list(folded.history.compactions)


def mechanisms(folded: LaneReading) -> list[str]:
    return [event.compaction.mechanism for event in events(folded)]


def test_streamed_lines_of_one_call_are_one_message_at_the_place_of_the_first() -> None:
    folded = lane(
        user("u", None, "go"),
        answer("a1", "u", "m1", text("thinking aloud")),
        answer("a2", "a1", "m1", use("t1")),
        result("r1", "a2", "t1"),
        answer("a3", "a2", "m1", use("t2")),
        result("r2", "a3", "t2"),
        answer("b", "r2", "m2", text("done")),
    )
    assert [(message.seq, message.line, message.records) for message in folded.messages] == [
        (1, 1, 1),
        (2, 2, 3),
        (3, 4, 1),
        (4, 6, 1),
        (5, 7, 1),
    ]
    assert [block.kind for block in folded.messages[1].blocks] == ["text", "tool_use", "tool_use"]


def test_a_line_that_repeats_earlier_blocks_of_its_call_adds_none() -> None:
    folded = lane(user("u", None, "go"), answer("a1", "u", "m1", text("one")), answer("a2", "a1", "m1", text("one"), use("t1")))
    assert [block.kind for block in folded.messages[1].blocks] == ["text", "tool_use"]


def test_results_of_parallel_calls_beside_the_path_are_in_the_prompt() -> None:
    folded = lane(
        user("u", None, "go"),
        answer("a1", "u", "m1", use("t1")),
        answer("a2", "a1", "m1", use("t2")),
        result("r1", "a1", "t1", "first"),
        result("r2", "a2", "t2", "second"),
        answer("b", "r2", "m2", text("done")),
    )
    assert folded.view(2) == ["go", '{"command":"ls"}', '{"command":"ls"}', "first", "second"]
    assert mechanisms(folded) == []
    assert not any(message.abandoned for message in folded.messages)


def test_a_result_that_is_written_later_enters_the_next_prompt_only() -> None:
    folded = lane(
        user("u", None, "go"),
        answer("a", "u", "m1", use("t1"), use("t2")),
        result("r1", "a", "t1", "first"),
        answer("b", "r1", "m2", text("meanwhile")),
        result("r2", "a", "t2", "late"),
        user("v", "b", "and now?"),
        answer("c", "v", "m3", text("done")),
    )
    assert "late" not in folded.view(2)
    assert "late" in folded.view(3)


def test_of_two_results_of_one_call_only_that_on_the_path_is_in_the_prompt() -> None:
    folded = lane(
        user("u", None, "go"),
        answer("a", "u", "m1", use("t1")),
        result("r1", "a", "t1", "old"),
        answer("b", "r1", "m2", text("hm")),
        result("r2", "a", "t1", "new"),
        answer("c", "r2", "m3", text("done")),
    )
    assert folded.view(3) == ["go", '{"command":"ls"}', "new"]


def test_a_result_beside_the_path_gives_way_to_one_on_it() -> None:
    folded = lane(
        user("u", None, "go"),
        answer("a", "u", "m1", use("t1")),
        result("r1", "a", "t1", "old"),
        answer("b", "a", "m2", text("hm")),
        result("r2", "b", "t1", "new"),
        answer("c", "r2", "m3", text("done")),
    )
    assert folded.view(2) == ["go", '{"command":"ls"}', "old"]
    assert folded.view(3) == ["go", '{"command":"ls"}', "hm", "new"]


def test_a_parent_outside_the_file_is_replaced_by_the_record_before() -> None:
    folded = lane(turn("1", None, "one"), user("u2", "lost", "two"), answer("a2", "u2", "m2", text("ok")))
    assert folded.view(2) == ["one", "answer to one", "two"]
    assert [(finding.code, finding.line) for finding in folded.history.findings] == [("parent_missing", 3)]


def test_a_parent_that_is_no_text_is_replaced_by_the_record_before() -> None:
    folded = lane(turn("1", None, "one"), {**user("u2", None, "two"), "parentUuid": 99}, answer("a2", "u2", "m2", text("ok")))
    assert folded.view(2) == ["one", "answer to one", "two"]
    assert folded.messages[2].flags == ("odd_parent",)


def test_records_that_are_their_own_parents_end_a_path() -> None:
    folded = lane(user("x", "y", "one"), user("y", "x", "two"), answer("a", "y", "m1", text("ok")))
    assert folded.view(1)[-1] == "two"


def test_a_rewind_takes_the_other_branch_and_marks_it_abandoned() -> None:
    folded = lane(
        turn("1", None, "one"),
        turn("2", "a-1", "wrong way"),
        turn("3", "a-1", "right way"),
    )
    assert folded.view(3) == ["one", "answer to one", "right way"]
    assert [message.abandoned for message in folded.messages] == [False, False, True, True, False, False]
    assert [call.abandoned for call in folded.history.calls] == [False, True, False]
    assert [call.previous for call in folded.history.calls] == [None, 1, 1]
    (event,) = events(folded)
    assert (event.compaction.mechanism, event.compaction.line, event.index, event.edits) == ("rewind", 5, None, 1)


def test_going_back_to_an_abandoned_branch_restores_its_messages() -> None:
    folded = lane(
        turn("1", None, "one"),
        turn("2", "a-1", "left"),
        turn("3", "a-1", "right"),
        turn("4", "a-2", "left again"),
    )
    assert folded.view(4) == ["one", "answer to one", "left", "answer to left", "left again"]
    assert mechanisms(folded) == ["rewind", "rewind"]
    assert [entry.verb for entry in folded.history.ledger if entry.adds] == ["restore"]


def test_a_new_root_in_the_same_session_clears_the_view() -> None:
    hook = record("progress", "p", None, data={"type": "hook_progress", "hookName": "SessionStart:clear"})
    folded = lane(turn("1", None, "one"), hook, turn("2", "p", "fresh"))
    assert folded.view(2) == ["fresh"]
    assert mechanisms(folded) == ["clear"]
    assert [call.previous for call in folded.history.calls] == [None, 1]
    assert not any(message.abandoned for message in folded.messages)


def test_a_compaction_takes_all_before_it_and_puts_its_summary() -> None:
    folded = lane(
        user("u", None, "go"),
        answer("a", "u", "m1", use("t1")),
        result("r", "a", "t1", "not sent yet"),
        boundary("b", "r"),
        summary("s", "b"),
        turn("2", "s", "on", isMeta=True),
    )
    assert folded.view(2) == ["summary so far", "on"]
    (event,) = events(folded)
    assert (event.edits, event.never_sent, event.compaction.line, event.compaction.trigger) == (3, 2, 4, "auto")
    assert (event.compaction.tokens_before, event.compaction.tokens_after) == (9000, 100)
    assert folded.messages[4].origin == "summary"


@pytest.mark.parametrize("logical", [None, "lost"])
def test_a_boundary_without_a_known_record_before_it_follows_the_record_above(logical: str | None) -> None:
    folded = lane(turn("1", None, "one"), boundary("b", logical), summary("s", "b"), turn("2", "s", "on"))
    (event,) = events(folded)
    assert event.edits == 2
    assert folded.history.calls[1].previous == 1


def test_sizes_of_zero_are_unknown_and_the_size_after_comes_from_the_next_call() -> None:
    records = [boundary("b", "a-1", preTokens=0, postTokens=0), summary("s", "b"), *turn("2", "s", "on")]
    compaction = events(lane(turn("1", None, "one"), records))[0].compaction
    assert (compaction.tokens_before, compaction.tokens_after, compaction.flags) == (None, 100, ("tokens_after_from_usage",))


@pytest.mark.parametrize(
    "data",
    [
        {"preservedMessages": {"anchorUuid": "s", "uuids": ["u-2", "a-2"]}},
        {"preserved_messages": {"anchor_uuid": "s", "uuids": ["u-2", "a-2"]}},
        {"preservedSegment": {"headUuid": "u-2", "anchorUuid": "s", "tailUuid": "a-2"}},
    ],
)
@pytest.mark.parametrize("parent", ["s", "a-2"])
def test_messages_that_a_compaction_kept_follow_the_summary(data: Record, parent: str) -> None:
    folded = lane(
        turn("1", None, "one"), turn("2", "a-1", "two"), boundary("b", "a-2", **data), summary("s", "b"), turn("3", parent, "three")
    )
    assert folded.view(3) == ["summary so far", "two", "answer to two", "three"]
    assert events(folded)[0].edits == 2


def test_a_compaction_that_kept_the_beginning_puts_its_summary_behind_it() -> None:
    kept: Record = {"preservedMessages": {"anchorUuid": "b", "uuids": ["u-1", "a-1"]}}
    folded = lane(turn("1", None, "one"), turn("2", "a-1", "two"), boundary("b", "a-2", **kept), summary("s", "b"), turn("3", "s", "three"))
    assert folded.view(3) == ["one", "answer to one", "summary so far", "three"]


def test_a_boundary_in_snake_case_is_read_too() -> None:
    snake = record(
        "system", "b", None, subtype="compact_boundary", compact_metadata={"trigger": "manual", "pre_tokens": 7, "post_tokens": 3}
    )
    compaction = events(lane(turn("1", None, "one"), snake, summary("s", "b"), turn("2", "s", "on")))[0].compaction
    assert (compaction.trigger, compaction.tokens_before, compaction.tokens_after) == ("manual", 7, 3)


def test_a_summary_without_a_boundary_is_a_compaction_with_sizes_of_the_calls_beside_it() -> None:
    folded = lane(turn("1", None, "one"), summary("s", "a-1"), turn("2", "s", "on"))
    assert folded.view(2) == ["summary so far", "on"]
    (event,) = events(folded)
    assert (event.compaction.line, event.compaction.tokens_before, event.compaction.tokens_after) == (3, 100, 100)
    assert event.compaction.flags == ("tokens_before_from_usage", "tokens_after_from_usage")


def test_a_boundary_without_a_summary_removes() -> None:
    folded = lane(turn("1", None, "one"), boundary("b", "a-1"), turn("2", "b", "on"))
    assert folded.view(2) == ["on"]
    assert [entry.verb for entry in folded.history.ledger] == ["remove", "remove"]


def test_a_compaction_on_a_branch_that_was_not_taken_leaves_the_view_as_it_is() -> None:
    folded = lane(turn("1", None, "one"), boundary("b", "a-1"), summary("s", "b"), turn("2", "a-1", "never mind"))
    assert folded.view(2) == ["one", "answer to one", "never mind"]
    (event,) = events(folded)
    assert (event.compaction.detached, event.edits, event.compaction.tokens_after) == (True, 2, None)
    assert folded.messages[3].abandoned


def test_a_compaction_at_the_end_of_the_file_is_not_beside_the_path() -> None:
    for tail in ([boundary("b", "a-1")], [boundary("b", "a-1"), summary("s", "b")], [micro("c", "a-1")]):
        assert not events(lane(turn("1", None, "one"), tail))[0].compaction.detached


def test_a_boundary_whose_parents_skip_the_middle_takes_what_was_in_view() -> None:
    folded = lane(
        turn("1", None, "one"),
        boundary("b1", "a-1"),
        summary("s1", "b1", "first summary"),
        turn("2", "s1", "two"),
        boundary("b2", "a-1", parent="a-1"),
        summary("s2", "b2", "second summary"),
        turn("3", "s2", "three"),
    )
    assert folded.view(3) == ["second summary", "three"]
    assert mechanisms(folded) == ["summary", "summary"]
    assert [finding.line for finding in folded.history.findings if finding.code == "parent_chain_skips"] == [7]
    assert not any(message.abandoned for message in folded.messages[:6])


def test_a_rewind_behind_a_compaction_brings_the_messages_back() -> None:
    folded = lane(turn("1", None, "one"), boundary("b", "a-1"), summary("s", "b"), turn("2", "s", "two"), turn("3", "a-1", "back"))
    assert folded.view(3) == ["one", "answer to one", "back"]
    assert mechanisms(folded) == ["summary", "rewind"]


def test_a_summary_beside_the_path_of_its_boundary_comes_back_with_it() -> None:
    folded = lane(
        turn("1", None, "one"),
        boundary("b", "a-1"),
        summary("s", "b"),
        turn("2", "b", "two"),
        turn("3", "a-1", "back"),
        turn("4", "a-2", "forth"),
    )
    assert folded.view(2) == ["summary so far", "two"]
    assert sorted(folded.view(4)) == sorted(["summary so far", "two", "answer to two", "forth"])


def test_a_result_after_the_summary_of_its_call_is_an_orphan() -> None:
    folded = lane(
        user("u", None, "go"),
        answer("a", "u", "m1", use("t1")),
        boundary("b", "a"),
        summary("s", "b"),
        result("r", "s", "t1", "late"),
        answer("c", "r", "m2", text("ok")),
    )
    assert folded.view(2) == ["summary so far", "late"]
    assert [(finding.code, finding.line) for finding in folded.history.findings] == [("orphan_result", 5)]


def test_a_micro_compaction_clears_the_results_that_it_names() -> None:
    folded = lane(
        user("u", None, "go"),
        answer("a", "u", "m1", use("t1"), use("t2")),
        result("r1", "a", "t1"),
        result("r2", "r1", "t2"),
        answer("b", "r2", "m2", text("ok")),
        micro("c", "b", "t1", "unknown"),
        turn("3", "c", "on"),
    )
    assert folded.states(2) == ["whole"] * 5
    assert folded.states(3) == ["whole", "whole", "whole", "cleared", "whole", "whole", "whole"]
    compaction = events(folded)[0].compaction
    assert (compaction.mechanism, compaction.scale, compaction.tokens_before, compaction.tokens_after) == (
        "clear_tool_result",
        "messages",
        6000,
        4000,
    )


def test_a_micro_and_a_full_compaction_on_adjacent_lines_are_two_events() -> None:
    folded = lane(turn("1", None, "one"), micro("c", "a-1"), boundary("b", "c"), summary("s", "b"), turn("2", "s", "on"))
    assert [(event.index, event.compaction.mechanism, event.edits) for event in events(folded)] == [
        (1, "clear_tool_result", 0),
        (2, "summary", 2),
    ]


def test_a_persisted_output_is_spilled_before_it_is_sent() -> None:
    saved = "Output too large (80KB). Full output saved to: /p/tool-results/t1.txt"
    preview = f"<persisted-output>\n{saved}\n\nPreview (first 2KB):\nabc\n</persisted-output>"
    folded = lane(
        user("u", None, "go"), answer("a", "u", "m1", use("t1")), result("r", "a", "t1", preview), answer("b", "r", "m2", text("ok"))
    )
    block = folded.messages[2].blocks[0]
    assert (block.state, block.pointer) == ("spilled", "/p/tool-results/t1.txt")
    (event,) = events(folded)
    assert (event.compaction.mechanism, event.index, event.edits, event.never_sent) == ("spill", None, 1, 1)
    assert folded.states(2) == ["whole", "whole", "spilled"]


def test_a_content_replacement_is_bound_to_the_call_that_it_names_and_makes_later_views_approximate() -> None:
    element = {"kind": "result", "target": {"toolUseId": "t1"}, "replacement": "a much shorter text than there was"}
    folded = lane(
        user("u", None, "go"),
        answer("a", "u", "m1", use("t1")),
        result("r", "a", "t1", "x" * 50),
        answer("b", "r", "m2", text("ok")),
        {"type": "content-replacement", "sessionId": "5e551011-0000-4000-8000-000000000000", "replacements": [element, {"odd": 1}]},
        turn("3", "b", "on"),
    )
    assert folded.view(3)[2] == "a much shorter text than there was"
    assert [call.fidelity for call in folded.history.calls] == ["derived", "derived", "approx"]


def test_a_call_without_a_path_has_an_empty_view() -> None:
    folded = lane(turn("1", None, "one"), answer("x", None, "m2", text("out of nothing")))
    assert folded.view(2) == []
    assert mechanisms(folded) == ["clear"]


def test_children_that_stand_before_their_parents_in_the_file_keep_their_path() -> None:
    folded = lane(
        answer("a1", "u1", "m1", text("first")), user("u1", None, "go"), user("u2", "a1", "next"), answer("a2", "u2", "m2", text("ok"))
    )
    assert folded.view(1) == []
    assert sorted(folded.view(2)) == ["first", "go", "next"]
