"""Large results move to a store, and what stands for them is within the limit; whatever fails, the text stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.course09.spill import SpillTransform
from compaction.dsh.spill import SpillPolicy
from compaction.errors import OptionError, StoreError
from compaction.spill import Call, Stored

CALL = Call(tool_name="shell")
STORED = Stored(locator="/kept/1.txt", hint="Open it in parts.")
TEXTS = st.text(alphabet="a中😀\n", max_size=300)
LIMITS = st.integers(0, 600)


def keep(text: str) -> Stored:
    return STORED


def refuse(text: str) -> Stored:
    raise StoreError("full")


@given(TEXTS, LIMITS)
def test_what_stands_for_a_result_is_within_the_limit_and_says_what_is_left_out(text: str, limit: int) -> None:
    result = SpillTransform(max_inline_bytes=limit, store=keep)(text, CALL)
    if result is not None:
        assert len(text.encode()) > limit >= result.size == len(result.text.encode())
        assert result.omitted_bytes == len(text.encode()) - len(result.preview.encode())
        assert f"Omitted {result.omitted_bytes} bytes" in result.text
        assert STORED.locator in result.text


@given(TEXTS, LIMITS)
def test_dsh_spills_within_the_same_limit(text: str, limit: int) -> None:
    decided = SpillPolicy(max_inline_bytes=limit, store=keep).decide([{"type": "text", "text": text}], CALL)
    if len(text.encode()) <= limit:
        assert (decided.spilled, decided.warning, decided.stored) == (None, None, False)
    elif decided.spilled is None:
        assert decided.warning == "notice_exceeds_cap"
    else:
        assert decided.spilled.size <= limit
    assert (decided.decision == {"kind": "accept"}) is (decided.spilled is None)


@pytest.mark.parametrize("call", [Call(tool_name="read"), Call(tool_name="shell", nested=True)])
def test_results_of_reads_and_of_nested_calls_stay(call: Call) -> None:
    assert SpillTransform(max_inline_bytes=200, store=keep)("x" * 900, call) is None
    assert SpillPolicy(max_inline_bytes=200, store=keep).decide([{"type": "text", "text": "x" * 900}], call).warning is None


def test_a_failing_store_never_fails_the_call() -> None:
    assert SpillTransform(max_inline_bytes=200, store=refuse)("x" * 900, CALL) is None
    decided = SpillPolicy(max_inline_bytes=200, store=refuse).decide([{"type": "text", "text": "x" * 900}], CALL)
    assert (decided.spilled, decided.warning) == (None, "save_failed")


def test_what_an_earlier_policy_decided_stands() -> None:
    policy = SpillPolicy(max_inline_bytes=200, store=keep)
    content = [{"type": "text", "text": "x" * 900}]
    for decision in ({"kind": "block", "reason": "no"}, {"kind": "accept", "value": None}):
        assert policy.decide(content, CALL, decision).decision is decision
    replaced = policy.decide([{"type": "text", "text": "small"}], CALL, {"kind": "accept", "content": content})
    assert replaced.spilled is not None


@pytest.mark.parametrize("limit", [-1, 1.5, True, "5"])
def test_a_limit_is_an_integer_from_0_or_none(limit: int) -> None:
    for made in (SpillTransform, SpillPolicy):
        with pytest.raises(OptionError):
            made(max_inline_bytes=limit, store=None)
