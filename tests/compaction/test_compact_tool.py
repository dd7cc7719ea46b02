"""The model asks for compaction itself."""

from __future__ import annotations

import pytest

from compaction.checkpoints import recognise
from compaction.compact_tool import ANSWERS, COMPACT_ORPHAN, compact_call, focus_of
from compaction.edits import summarise
from compaction.history import fold
from compaction.messages import Block, BlockId, Body
from compaction.transcript import Appended
from tests.compaction.lanes import SIZES, block, called, edited, message, said, tool_result, tool_use

DONE = "[Compacted. Conversation history has been summarized.]"


def call(tool_id: str, name: str = "compact", text: str = "{}") -> Block:
    return Block(id=BlockId(1, 1), kind="tool_use", body=Body.of(text), tool_id=tool_id, tool_name=name)


def answer(tool_id: str) -> Block:
    return block(2, 1, "ok", "tool_result", tool_id)


@pytest.mark.parametrize(
    ("blocks", "asked"),
    [
        ([call("a"), answer("a")], "a"),
        ([call("b", "bash"), call("a"), answer("b"), answer("a")], "a"),
        ([call("a"), call("b", "bash"), answer("a"), answer("b")], "a"),
        ([call("a"), call("b", "bash"), answer("a")], None),
        ([call("a")], None),
        ([call("b", "bash"), answer("b")], None),
        ([call("a"), answer("a"), block(2, 2, "a note")], "a"),
        ([call("a"), answer("a"), block(3, 1, "so")], None),
        ([call("a"), answer("a"), call("b", "bash"), answer("b")], None),
        ([], None),
    ],
    ids=["alone", "last", "first", "open", "unanswered", "another-tool", "note", "something-after", "older", "none"],
)
def test_the_request_counts_once_its_whole_batch_is_answered(blocks: list[Block], asked: str | None) -> None:
    found = compact_call(blocks)
    assert (found and found.tool_id) == asked


@pytest.mark.parametrize(
    ("given", "focus"),
    [
        ('{"focus": "the failing  test"}', "the failing test"),
        ('{"instructions": "paths"}', "paths"),
        ('{"focus": 3}', ""),
        ("not JSON", ""),
        ("[]", ""),
    ],
)
def test_the_focus_is_what_the_input_says(given: str, focus: str) -> None:
    assert focus_of(given) == focus


def test_the_answer_of_the_older_form_is_flagged_because_its_call_was_summarised_away() -> None:
    summary = message(3, "user", "[Compacted]\n\nWe test.")
    asked = [Appended(message=summary), edited(summarise([BlockId(1, 1), BlockId(2, 1)], [3])), *said(tool_result(4, "a", ANSWERS[0]))]
    events = [*said(message(1, "user", "test it"), tool_use(2, "a")), *asked, called(1)]
    assert [(found.code, found.seq) for found in fold(events, SIZES).findings] == [("orphan_result", 4), (COMPACT_ORPHAN, 4)]


def test_the_answers_are_those_that_readers_recognise() -> None:
    assert [(found.mark.system, found.mark.kind) for text in ANSWERS if (found := recognise(text, "result"))] == [
        ("s08", "acknowledgement"),
        ("s08", "acknowledgement"),
    ]


def test_an_answer_beside_its_call_is_no_orphan_and_another_orphan_is_none_of_this_kind() -> None:
    events = [*said(tool_use(1, "a"), tool_result(2, "a", ANSWERS[0]), tool_result(3, "b", "another")), called(1)]
    assert [found.code for found in fold(events, SIZES).findings] == ["orphan_result"]
