"""The units of views price a message as the meters of the programs do that they are named after."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.counters.units import unit_named
from compaction.course09 import estimates as course09
from compaction.dsh import estimates as dsh
from compaction.messages import Message
from compaction.pricing import Pricer
from compaction.view import PromptView
from tests.compaction.lanes import message, tool_result, tool_use

TEXTS = st.text(alphabet='a"\\中😀\n', max_size=40)


def own(unit: str, one: Message) -> int:
    return PromptView.of([one], Pricer(unit_named(unit))).own


@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_texts_cost_in_a_view_what_dsh_says(texts: list[str]) -> None:
    assert own("dsh_utf16", message(1, "user", *texts)) == dsh.estimate_message([{"type": "text", "text": text} for text in texts])


@given(TEXTS)
def test_calls_and_results_cost_in_a_view_what_dsh_says(text: str) -> None:
    assert own("dsh_utf16", tool_use(1, "t", text)) == dsh.estimate_message([{"type": "tool-call", "name": "", "arguments": text}])
    result = {"type": "tool-result", "toolCallId": "t", "content": [{"type": "text", "text": text}]}
    assert own("dsh_utf16", tool_result(1, "t", text)) == dsh.estimate_message([result])


@given(TEXTS)
def test_texts_and_results_cost_in_a_view_what_mini_harness_09_says_and_calls_are_free(text: str) -> None:
    assert own("course09_chars4", message(1, "user", text)) == course09.estimate_message(text)
    assert own("course09_chars4", tool_result(1, "t", text)) == course09.estimate_message(text)
    assert own("course09_chars4", tool_use(1, "t", text)) == course09.estimate_message(None)


@pytest.mark.parametrize(("value", "written"), [(1.0, "1"), ([-2.0, 0.5, {"a": 3.0}], '[-2,0.5,{"a":3}]'), ("中", '"中"'), (None, "null")])
def test_numbers_are_written_as_dsh_writes_them(value: object, written: str) -> None:
    assert dsh.compact_json(value) == written


def test_an_assistant_message_without_blocks_was_never_sent_and_costs_nothing() -> None:
    assert (dsh.estimate_message([], role="assistant"), dsh.estimate_message([])) == (0, 4)
