"""Whole code points within a budget of bytes, however the text arrives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.errors import OptionError
from compaction.retain import ByteBudget, ItemRetainer, TextRetainer, halves, head_tail_utf8, utf8

TEXTS = st.text(alphabet="aß中😀\n", max_size=60)
BUDGETS = st.integers(0, 80)


@given(TEXTS, BUDGETS)
def test_a_cut_text_is_whole_code_points_of_both_ends_within_the_budget(text: str, budget: int) -> None:
    kept = head_tail_utf8(text, budget)
    assert len(kept.encode()) <= budget
    assert any(text.startswith(kept[:at]) and text.endswith(kept[at:]) for at in range(len(kept) + 1))


@given(TEXTS, BUDGETS)
def test_no_more_code_points_would_fit_the_halves(text: str, budget: int) -> None:
    head, tail = halves(budget)
    first = next(at for at in range(len(text), -1, -1) if len(text[:at].encode()) <= head)
    last = next(at for at in range(first, len(text) + 1) if len(text[at:].encode()) <= tail)
    assert head_tail_utf8(text, budget) == text[:first] + text[last:]


@given(st.lists(TEXTS, max_size=5), BUDGETS, BUDGETS)
def test_a_retainer_keeps_whole_code_points_within_its_budgets(pieces: list[str], head: int, tail: int) -> None:
    retainer, text = TextRetainer(ByteBudget(head=head, tail=tail)), "".join(pieces)
    kept_all = [retainer.push(piece) for piece in pieces]
    result = retainer.finish()
    size = len(text.encode())
    assert len(result.text.encode()) + result.omitted_bytes == size
    assert len(result.text.encode()) <= head + tail
    assert any(text.startswith(result.text[:at]) and text.endswith(result.text[at:]) for at in range(len(result.text) + 1))
    assert result.truncated is retainer.truncated is (size > head + tail)
    assert kept_all == sorted(kept_all, reverse=True), "what is lost once stays lost"


@given(TEXTS, BUDGETS)
def test_both_ways_cut_a_text_alike_where_it_is_larger_than_the_budget(text: str, budget: int) -> None:
    head, tail = halves(budget)
    retainer = TextRetainer(ByteBudget(head=head, tail=tail))
    if not retainer.push(text):
        assert retainer.finish().text == head_tail_utf8(text, budget)


@given(st.binary(max_size=60), st.lists(st.integers(1, 7), max_size=9), BUDGETS, BUDGETS)
def test_pieces_make_no_difference(given_bytes: bytes, lengths: list[int], head: int, tail: int) -> None:
    whole, pieced = (TextRetainer(ByteBudget(head=head, tail=tail)) for _ in range(2))
    whole.push(given_bytes)
    at = 0
    for length in lengths:
        pieced.push(given_bytes[at : at + length])
        at += length
    pieced.push(given_bytes[at:])
    assert pieced.finish() == whole.finish()


def test_cuts_move_only_where_something_is_left_out() -> None:
    split = ByteBudget(head=4, tail=5)
    retainer = TextRetainer(split)
    retainer.push("中文字")
    assert retainer.finish().text == "中文字"
    retainer.push("!")
    assert retainer.finish().text == "中字!"


def test_bytes_that_are_no_utf8_become_replacement_characters() -> None:
    retainer = TextRetainer(ByteBudget(head=9))
    retainer.push(b"a\xff\x80")
    assert retainer.finish().text == "a\ufffd\ufffd"


def test_a_lone_surrogate_has_no_utf8_and_is_replaced() -> None:
    assert utf8("a\ud83d") == "a\ufffd".encode()


def test_the_first_items_are_kept_and_the_others_counted() -> None:
    retainer = ItemRetainer[str](2)
    assert [retainer.push(item) for item in "abc"] == [True, True, False]
    assert (retainer.items, retainer.seen, retainer.omitted) == (["a", "b"], 3, 1)


@pytest.mark.parametrize("value", [-1, 1.5, True, "3", None])
def test_a_budget_is_an_integer_from_0(value: int) -> None:
    with pytest.raises(OptionError, match="tail"):
        ByteBudget(tail=value)
    with pytest.raises(OptionError, match="items"):
        ItemRetainer(value)
