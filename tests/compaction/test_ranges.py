"""Which head may be summarised: the tail keeps its tokens, and no call is cut from its result."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction.ranges import Weight, compactable, tail_from


@st.composite
def lanes(draw: st.DrawFn) -> list[Weight]:
    """Messages of which some call tools and later ones answer, one or several at a time."""
    weights, waiting = list[Weight](), 0
    for _ in range(draw(st.integers(0, 15))):
        closes = draw(st.integers(0, waiting))
        opens = draw(st.integers(0, 2)) if not closes else 0
        waiting += opens - closes
        weights.append(Weight(tokens=draw(st.integers(0, 50)), opens=opens, closes=closes))
    return weights


@given(lanes(), st.integers(0, 300))
def test_no_call_is_open_at_the_cut(weights: list[Weight], retain: int) -> None:
    count = compactable(weights, retain)
    assert sum(weight.opens - weight.closes for weight in weights[:count]) == 0


@given(lanes(), st.integers(0, 300))
def test_the_tail_keeps_its_tokens_and_one_message_at_least(weights: list[Weight], retain: int) -> None:
    count = compactable(weights, retain)
    tail = weights[count:]
    assert not weights or tail
    assert count == 0 or sum(weight.tokens for weight in tail) >= retain


@given(lanes(), st.integers(0, 300))
def test_the_cut_moves_no_further_than_it_must(weights: list[Weight], retain: int) -> None:
    count, start = compactable(weights, retain), tail_from([weight.tokens for weight in weights], retain)
    assert count <= start
    for cut in range(count + 1, start + 1):
        assert sum(weight.opens - weight.closes for weight in weights[:cut]) > 0


def test_an_orphan_result_closes_no_other_call() -> None:
    weights = [Weight(tokens=1, closes=1), Weight(tokens=1, opens=1), Weight(tokens=1, closes=1), Weight(tokens=1)]
    assert compactable(weights, 2) == 1
