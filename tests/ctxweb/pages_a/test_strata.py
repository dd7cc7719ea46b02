"""Blocks as ribbons."""

from __future__ import annotations

import re

import pytest

from ctxweb.charts.scale import Scale
from ctxweb.charts.strata import ALONE, MOST_ALONE, Layer, cuts_of, ribbon_labels, strata

pytestmark = pytest.mark.nodb
SCALE = Scale(calls=100, top=31_000, height=310)  # 100 tokens a pixel
FOREVER = 2_000_000_000


def layer(block: str, *, start: int = 1, end: int = FOREVER, estimate: int = 1_000, kind: str = "tool-result") -> Layer:
    return Layer(block=block, kind=kind, start=start, end=end, estimate=estimate, name=f"file_{block}")


def rectangles(path: str) -> list[tuple[float, ...]]:
    return [tuple(map(float, found)) for found in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)", path)]


def test_a_block_keeps_its_height_from_birth_to_the_end() -> None:
    laid = strata([layer("1.1"), layer("2.1", start=5)], cuts=(0, 100), overhead=4_000, scale=SCALE)
    low, high = laid.ribbons
    assert (low.x, low.width, low.y, low.height) == (0, 100, 260.0, 10.0)
    assert (high.x, high.width, high.y, high.height) == (4, 96, 250.0, 10.0)


def test_what_stands_above_a_removed_block_moves_down_at_the_cut() -> None:
    layers = [layer("1.1", end=51), layer("2.1")]
    cuts = cuts_of(layers, calls=100)
    assert cuts == (0, 50, 100)
    before, moved = [ribbon for ribbon in strata(layers, cuts=cuts, overhead=0, scale=SCALE).ribbons if ribbon.block == "2.1"]
    assert (before.x, before.width, before.y) == (0, 50, 290.0)
    assert (moved.x, moved.width, moved.y) == (50, 50, 300.0)


def test_a_cleared_block_gets_thinner_at_the_cut() -> None:
    layers = [layer("1.1", end=31), layer("1.1", start=31, estimate=700)]
    heights = [ribbon.height for ribbon in strata(layers, cuts=cuts_of(layers, calls=100), overhead=0, scale=SCALE).ribbons]
    assert heights == [10.0, 7.0]


def test_a_block_put_in_front_of_an_older_one_makes_a_cut() -> None:
    assert cuts_of([layer("9.1", start=51), layer("1.1", start=1)], calls=100) == (0, 50, 100)


def test_growth_at_the_end_makes_no_cut() -> None:
    assert cuts_of([layer(f"{n}.1", start=n) for n in range(1, 90)], calls=100) == (0, 100)


def test_thin_neighbours_of_one_colour_and_age_are_one_rectangle() -> None:
    laid = strata([layer(f"{n}.1", estimate=200) for n in range(1, 11)], cuts=(0, 100), overhead=0, scale=SCALE)
    assert laid.ribbons == ()
    assert rectangles(dict(laid.merged)["tool-result"]) == [(0, 290.0, 100, 20.0)]


def test_a_run_too_thin_to_see_takes_the_next_block_and_the_larger_names_the_colour() -> None:
    layers = [layer("1.1", estimate=50, kind="user"), layer("2.1", start=20, estimate=300, kind="thinking")]
    laid = strata(layers, cuts=(0, 100), overhead=0, scale=SCALE)
    assert [kind for kind, _ in laid.merged] == ["thinking"]
    assert rectangles(laid.merged[0][1]) == [(19, 306.5, 81, 3.5)]


def test_the_total_height_is_that_of_the_view() -> None:
    layers = [layer(f"{n}.1", start=1 + n % 7, estimate=40 * n, kind=("user", "thinking")[n % 2]) for n in range(1, 30)]
    laid = strata(layers, cuts=(0, 100), overhead=0, scale=SCALE)
    drawn = sum(ribbon.height for ribbon in laid.ribbons) + sum(r[3] for _, path in laid.merged for r in rectangles(path))
    assert drawn == pytest.approx(SCALE.px(sum(each.estimate for each in layers)), abs=1.5)


def test_only_the_largest_ribbons_are_links() -> None:
    layers = [layer(f"{n}.1", start=n, end=n + 1, estimate=int(100 * ALONE) + n) for n in range(1, 100)] * 2
    laid = strata(layers, cuts=tuple(range(101)), overhead=0, scale=SCALE)
    assert len(laid.ribbons) == MOST_ALONE
    assert len(rectangles(dict(laid.merged)["tool-result"])) == 198 - MOST_ALONE


def test_a_label_needs_height_length_and_a_line_above_it() -> None:
    tall, flat, short = layer("1.1", estimate=3_000), layer("2.1", estimate=800), layer("3.1", start=95, estimate=3_000)
    laid = strata([tall, flat, short], cuts=(0, 100), overhead=0, scale=SCALE)
    above = ribbon_labels(laid.ribbons, line=[10.0] * 100, scale=SCALE)
    assert [label.name for label in above] == ["file_1.1"]
    assert above[0].percent == 100
    assert ribbon_labels(laid.ribbons, line=[300.0] * 100, scale=SCALE) == ()
    assert ribbon_labels(laid.ribbons, line=[None] * 100, scale=SCALE) == above
