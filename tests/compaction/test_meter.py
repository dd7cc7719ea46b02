"""Measurement, limits and pressure."""

from __future__ import annotations

import pytest

from compaction.counters.chars import CHARS
from compaction.counters.units import UNITS, unit_named
from compaction.errors import LimitError
from compaction.limits import Limits
from compaction.meter import Pressure, TokenMeter, measure
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


MESSAGES: list[dict[str, object]] = [
    {"role": "user", "content": "four" * 3},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "bash", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "okay"}]},
]
TOOLS: list[dict[str, object]] = [{"name": "bash", "input_schema": {}}]


def test_messages_tools_and_system_prompt_are_measured_in_each_unit() -> None:
    found = {one.unit: one for one in TokenMeter(count=len).measure(MESSAGES, tools=TOOLS, system="four" * 2)}
    assert tuple(found) == tuple(unit.id for unit in UNITS)
    assert found["s08_repr"].messages == len(repr(MESSAGES))
    assert {unit: (one.tools, one.system) for unit, one in found.items()} == {
        "s14_chars4": (9, 2),
        "s08_repr": (38, 10),
        "course09_chars4": (14, 6),
        "dsh_utf16": (13, 6),
        "exact": (38, 8),
        "estimate": (38, 8),
    }
    assert found["exact"].total == 12 + 2 + 4 + 38 + 8


def test_what_is_not_there_costs_nothing_but_an_empty_system_prompt_of_dsh_does() -> None:
    assert [(one.tools, one.system) for one in TokenMeter().measure(MESSAGES)] == [(0, 0)] * len(UNITS)
    (dsh,) = TokenMeter(units=(unit_named("dsh_utf16"),)).measure([], system="")
    assert dsh.system == 4


def test_a_meter_counts_each_distinct_text_once() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return 1

    TokenMeter(count=count).measure(MESSAGES, tools=TOOLS, system="be brief")
    assert sorted(counted) == sorted(set(counted))
