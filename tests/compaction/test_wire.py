"""Wire messages in and out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from compaction.counters.units import unit_named
from compaction.edits import clear, remove, truncate
from compaction.messages import BlockId, Body
from compaction.pricing import Pricer
from compaction.transcript import Edit
from compaction.view import Plan, PromptView
from compaction.wire import read_wire, write_wire
from tests.compaction.lanes import message, tool_result, tool_use
from tests.compaction.wire_sessions import IMAGE, wire_sessions

pytestmark = pytest.mark.nodb

RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "a long result", "_read_path": "a.py", "extra": 1}
CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "read", "input": {"path": "a.py"}}]}


def _read(*messages: dict[str, Any]) -> PromptView:
    return read_wire(messages, Pricer(unit_named("s14_chars4")))


def _edited(view: PromptView, edit: Edit) -> list[Any]:
    return [dict(one) for one in write_wire(view.apply(Plan(edits=(edit,)), layer="test").view)]


@given(wire_sessions())
def test_what_is_read_and_not_changed_is_written_as_the_very_objects(messages: list[dict[str, Any]]) -> None:
    assert [id(one) for one in write_wire(read_wire(messages, Pricer(unit_named("exact"))))] == [id(one) for one in messages]


def test_a_shorter_result_keeps_its_other_keys_and_its_neighbours() -> None:
    note = {"type": "text", "text": "note"}
    view = _read(CALL, {"role": "user", "name": "x", "content": [note, RESULT]})
    after = _edited(view, truncate(BlockId(2, 2), Body.of("a long")))
    assert after[1] == {"role": "user", "name": "x", "content": [note, {**RESULT, "content": "a long"}]}
    assert after[1]["content"][0] is note


def test_a_cut_keeps_the_images_of_a_result_and_a_placeholder_does_not() -> None:
    result = {**RESULT, "content": [{"type": "text", "text": "a long "}, IMAGE, {"type": "text", "text": "result"}]}
    view = _read(CALL, {"role": "user", "content": [result]})
    assert view.messages[1].largest_result == len("a long result")
    cut = _edited(view, truncate(BlockId(2, 1), Body.of("a long")))
    assert cut[1]["content"][0]["content"] == [{"type": "text", "text": "a long"}, IMAGE]
    cleared = _edited(view, clear(BlockId(2, 1), Body.of("gone")))
    assert cleared[1]["content"][0]["content"] == "gone"


def test_a_call_and_a_plain_text_can_be_given_less() -> None:
    view = _read({"role": "user", "content": "a long text"}, CALL, {"role": "user", "content": [RESULT]})
    assert _edited(view, clear(BlockId(2, 1), Body.of("{}")))[1]["content"][0]["input"] == {}
    assert _edited(view, clear(BlockId(1, 1), Body.of("text")))[0] == {"role": "user", "content": "text"}


def test_what_is_left_of_a_list_stays_a_list_and_an_emptied_message_goes() -> None:
    view = _read(
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, {"role": "user", "content": "c"}
    )
    assert _edited(view, remove([BlockId(1, 1)]))[0] == {"role": "user", "content": [{"type": "text", "text": "b"}]}
    assert _edited(view, remove([BlockId(1, 1), BlockId(1, 2)])) == [{"role": "user", "content": "c"}]


def test_marks_in_results_are_read_as_states_and_reads_by_their_path() -> None:
    cleared = {**RESULT, "content": "[Earlier tool result compacted. Re-run if needed.]"}
    view = _read(CALL, {"role": "user", "content": [cleared]})
    assert [visible.state for visible in view.blocks] == ["whole", "cleared"]
    assert (view.messages[1].reads, view.messages[1].results, view.messages[0].uses) == ((("t", "a.py"),), ("t",), ("t",))


def test_lone_surrogates_keep_the_length_of_a_text() -> None:
    view = _read({"role": "user", "content": "a\ud800b"})
    assert next(view.blocks).body.text == "a\ufffdb"


def test_a_role_that_nobody_knows_holds_no_tools_and_survives() -> None:
    odd = {"role": "critic", "content": "hm"}
    view = _read(odd)
    assert view.messages[0].role == "system"
    assert write_wire(view) == [odd]


def test_logged_messages_are_written_in_the_canonical_form() -> None:
    logged = [message(1, "user", "task"), tool_use(2, "t", '{"path": "a"}'), tool_use(3, "u", "patch text"), tool_result(4, "t")]
    assert write_wire(PromptView.of(logged, Pricer(unit_named("exact")))) == [
        {"role": "user", "content": "task"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "", "input": {"path": "a"}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "u", "name": "", "input": "patch text"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "result"}]},
    ]
