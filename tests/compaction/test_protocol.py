"""The tool protocol of bare messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.errors import ProtocolError
from compaction.messages import BlockId, Interaction, Message
from compaction.protocol import interactions, safe_cuts, validate_tool_protocol
from tests.compaction.lanes import block, message, tool_result, tool_use


def _with(role: str, kind: str, tool_id: str | None) -> Message:
    return Message(seq=1, role=role, origin="unknown", blocks=(block(1, 1, "x", kind, tool_id),), line=1, record=1)  # type: ignore[arg-type]


def test_pairs_come_in_the_order_of_their_calls() -> None:
    messages = [tool_use(1, "a"), tool_use(2, "b"), tool_result(3, "b"), tool_result(4, "a")]
    expected = (
        Interaction(tool_id="a", use=BlockId(1, 1), result=BlockId(4, 1)),
        Interaction(tool_id="b", use=BlockId(2, 1), result=BlockId(3, 1)),
    )
    assert validate_tool_protocol(messages) == expected
    assert interactions(messages) == expected


def test_a_side_that_was_never_logged_is_none() -> None:
    assert interactions([tool_result(1, "a"), tool_use(2, "b")]) == (
        Interaction(tool_id="a", use=None, result=BlockId(1, 1)),
        Interaction(tool_id="b", use=BlockId(2, 1), result=None),
    )


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([tool_use(1, "a")], "tool_use_unmatched"),
        ([tool_result(1, "a")], "tool_result_unmatched"),
        ([tool_use(1, "a"), tool_use(2, "a")], "duplicate_tool_use"),
        ([tool_use(1, "a"), tool_result(2, "a"), tool_result(3, "a")], "duplicate_tool_result"),
        ([_with("user", "tool_use", "a")], "wrong_role"),
        ([_with("assistant", "tool_result", "a")], "wrong_role"),
        ([_with("assistant", "tool_use", " ")], "correlation_id_missing"),
        ([_with("user", "tool_result", None)], "correlation_id_missing"),
    ],
)
def test_a_violation_is_named_with_its_place(messages: list[Message], code: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        validate_tool_protocol(messages)
    assert caught.value.code == code
    assert caught.value.block in str(caught.value)


def test_a_cut_is_safe_where_no_call_waits_for_its_result() -> None:
    messages = [
        message(1, "user", "task"),
        tool_use(2, "a"),
        tool_use(3, "b"),
        tool_result(4, "a"),
        tool_result(5, "b"),
        message(6, "user", "x"),
    ]
    assert safe_cuts(messages) == (0, 1, 5, 6)


@given(st.permutations(["a", "a", "b", "b", "c", "c"]))
def test_no_safe_cut_splits_a_pair(ids: list[str]) -> None:
    messages = [(tool_use if tool_id not in ids[:place] else tool_result)(place + 1, tool_id) for place, tool_id in enumerate(ids)]
    for cut in safe_cuts(messages):
        assert not set(ids[:cut]) & set(ids[cut:])
