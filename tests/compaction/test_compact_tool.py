"""The model asks for compaction itself."""

from __future__ import annotations

import pytest

from compaction.compact_tool import COMPACT_ORPHAN, compact_call, compact_orphans, focus_of
from compaction.messages import Block, BlockId, Body
from tests.compaction.lanes import block, message, tool_result, tool_use

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
    messages = [message(1, "user", "[Compacted]\n\nWe test."), tool_result(2, "a", DONE)]
    assert [(found.code, found.seq, found.detail) for found in compact_orphans(messages)] == [(COMPACT_ORPHAN, 2, "2.1 a")]


def test_an_answer_beside_its_call_is_no_orphan() -> None:
    assert not list(compact_orphans([tool_use(1, "a"), tool_result(2, "a", DONE)]))
    assert not list(compact_orphans([tool_result(1, "a", "another orphan")]))
