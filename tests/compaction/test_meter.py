"""Measurement, limits and pressure."""

from __future__ import annotations

import pytest

from compaction.counters.chars import CHARS
from compaction.errors import LimitError
from compaction.limits import Limits
from compaction.meter import Pressure, measure
from tests.compaction.lanes import message


def test_a_measurement_adds_up_its_parts_and_is_exact_only_with_an_exact_counter() -> None:
    measured = measure([message(1, "user", "four" * 3, "four")], CHARS, tools="four", system="four" * 2)
    assert (measured.messages, measured.tools, measured.system, measured.total) == (4, 1, 2, 7)
    assert not measured.exact


def test_pressure_is_tokens_by_window_and_unknown_without_one() -> None:
    assert Pressure(tokens=50, limits=Limits(window=200)).share == 0.25
    assert Pressure(tokens=50, limits=Limits()).share is None


def test_pressure_says_which_limit_is_passed() -> None:
    pressure = Pressure(tokens=90, limits=Limits(window=100, trigger=80, hard_limit=95))
    assert pressure.over_trigger
    assert not pressure.over_hard_limit


@pytest.mark.parametrize(
    "given", [{"trigger": 9, "window": 8}, {"hard_limit": 9, "window": 8}, {"trigger": 9, "hard_limit": 8}, {"window": 0}]
)
def test_limits_that_contradict_each_other_are_refused_by_name(given: dict[str, int]) -> None:
    with pytest.raises(LimitError, match=next(iter(given))):
        Limits(**given)
