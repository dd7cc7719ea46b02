"""The context map as a whole."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxweb.charts.bins import CallFigures, binned
from ctxweb.charts.context_map import MOST_COLUMNS, MOST_POINTS, MapFigures, context_map
from ctxweb.charts.drops import Drop
from ctxweb.charts.scale import point_count
from ctxweb.charts.strata import Layer
from ctxweb.vocabulary import KIND_NAMES

pytestmark = pytest.mark.nodb
KINDS = len(KIND_NAMES)


def kinds(**sums: int) -> tuple[int, ...]:
    return tuple(sums.get(name.replace("-", "_"), 0) for name in KIND_NAMES)


def figures(
    calls: list[CallFigures], *, drops: tuple[Drop, ...] = (), layers: tuple[Layer, ...] = (), overhead: int | None = 0
) -> MapFigures:
    bins = binned(calls, drops=[drop.before_call for drop in drops])
    return MapFigures(calls=len(calls), bins=bins, drops=drops, window=200_000, window_is_assumed=False, overhead=overhead, layers=layers)


def test_layers_are_painted_from_the_top_down_each_to_the_base() -> None:
    calls = [CallFigures(n=1, reported=1_000, kinds=kinds(user=100, tool_result=500))]
    drawn = context_map(figures(calls), stack="kind")
    assert [kind for kind, _ in drawn.areas] == ["tool-result", "user", "overhead"]
    assert all(path.startswith("M0 310") and path.endswith("z") for _, path in drawn.areas)
    assert all(round(sum(map(float, re.findall(r"v(-?[\d.]+)", path))), 6) == 0 for _, path in drawn.areas)


def test_a_map_in_prompt_order_needs_its_layers() -> None:
    calls = [CallFigures(n=n, reported=1_000 * n, kinds=kinds(user=1_000 * n)) for n in range(1, 5)]
    layers = tuple(Layer(block=f"{n}.1", kind="user", start=n, end=2_000_000_000, estimate=1_000, name="user text") for n in range(1, 5))
    assert context_map(figures(calls, layers=layers), stack="order").stack == "order"
    assert context_map(figures(calls), stack="order").stack == "kind"


def test_what_is_reported_beyond_the_log_is_hatched_and_less_is_veiled() -> None:
    calls = [CallFigures(n=1, reported=50_000, kinds=kinds(user=20_000)), CallFigures(n=2, reported=20_000, kinds=kinds(user=50_000))]
    drawn = context_map(figures(calls), stack="kind")
    assert drawn.hatch.startswith("M0 310")
    assert drawn.over.startswith("M1 ")
    assert "M0" not in drawn.over


def test_a_call_without_a_report_breaks_the_line_and_counts_by_its_estimate() -> None:
    calls = [CallFigures(n=1, reported=None, kinds=kinds(user=70_000)), CallFigures(n=2, reported=60_000, kinds=kinds(user=60_000))]
    drawn = context_map(figures(calls), stack="kind")
    assert drawn.reported.startswith("M1 ")
    assert (drawn.peak, drawn.peak_is_estimate) == (70_000, True)


@settings(deadline=None, max_examples=15)
@given(calls=st.integers(1, 3_000), seed=st.integers(0, 2**32))
def test_any_session_makes_a_bounded_picture(calls: int, seed: int) -> None:
    draw = random.Random(seed).randrange
    noisy = [CallFigures(n=n, reported=draw(200_000), kinds=tuple(draw(20_000) for _ in range(KINDS))) for n in range(1, calls + 1)]
    drawn = context_map(figures(noisy), stack="kind")
    assert sum(point_count(path) for _, path in drawn.areas) <= MOST_POINTS
    assert len(drawn.columns) <= MOST_COLUMNS
    assert sum(column.width for column in drawn.columns) == calls


def test_the_hidden_part_of_the_first_call_lies_below_all_blocks() -> None:
    calls = [CallFigures(n=1, reported=50_000, kinds=kinds(user=10_000))]
    layers = (Layer(block="1.1", kind="user", start=1, end=2_000_000_000, estimate=10_000, name="user text"),)
    drawn = context_map(figures(calls, layers=layers, overhead=40_000), stack="order")
    assert drawn.base == f"M0 310v{drawn.overhead_y - 310:g}h1v{310 - drawn.overhead_y:g}z"
    assert drawn.ribbons[0].y + drawn.ribbons[0].height == pytest.approx(drawn.overhead_y, abs=0.2)
