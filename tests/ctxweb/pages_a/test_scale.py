"""Axes and paths."""

from __future__ import annotations

import pytest

from ctxweb.charts.scale import Scale, Step, band, call_labels, gridlines, scale_for, short, step_area, step_line

pytestmark = pytest.mark.nodb


def test_the_window_stays_inside_the_picture() -> None:
    scale = scale_for(calls=10, highest=155_023, window=200_000, height=310)
    assert scale.top == pytest.approx(210_000)
    assert scale.y(0) == 310
    assert 0 < scale.y(200_000) < 15


def test_a_call_above_the_window_raises_the_axis() -> None:
    assert scale_for(calls=1, highest=300_000, window=200_000, height=310).top == pytest.approx(315_000)


@pytest.mark.parametrize(
    ("highest", "step"),
    [(200_000, 50_000), (300_000, 50_000), (310_000, 100_000), (600_000, 100_000), (700_000, 200_000), (2_500_000, 500_000)],
)
def test_gridlines_stand_further_apart_as_the_axis_grows(highest: int, step: int) -> None:
    lines = gridlines(scale_for(calls=1, highest=highest, window=None, height=310))
    assert [line.value for line in lines][:2] == [0, step]
    assert 2 <= len(lines) <= 10


@pytest.mark.parametrize("window", [10_000_000, 10**12, 10**190])
def test_gridlines_stay_few_however_large_the_window_is(window: int) -> None:
    assert 2 <= len(gridlines(scale_for(calls=1, highest=100, window=window, height=310))) <= 30


@pytest.mark.parametrize("calls", [1, 2, 3, 11, 12, 59, 60, 225, 399, 400, 1_999, 2_736, 90_000])
def test_the_first_and_the_last_call_are_labelled_and_labels_do_not_crowd(calls: int) -> None:
    numbers = [label.value for label in call_labels(calls)]
    assert numbers[0] == 1
    assert numbers[-1] == calls
    assert numbers == sorted(set(numbers))
    assert len(numbers) <= 92


def test_the_label_before_the_last_leaves_room_for_it() -> None:
    assert [label.value for label in call_labels(12_534)][-2:] == [11_000, 12_534]


def test_labels_stand_every_25_calls_under_400() -> None:
    assert [label.value for label in call_labels(225)] == [1, 25, 50, 75, 100, 125, 150, 175, 200, 225]


@pytest.mark.parametrize(("value", "written"), [(3.0, "3"), (3.04, "3"), (3.16, "3.2"), (-0.26, "-0.3")])
def test_a_coordinate_has_at_most_one_decimal(value: float, written: str) -> None:
    assert short(value) == written


def test_a_step_line_breaks_where_nothing_is_known() -> None:
    steps = [Step(x0=0, x1=1, y=10), Step(x0=1, x1=2, y=None), Step(x0=2, x1=3, y=20)]
    assert step_line(steps) == "M0 10h1M2 20h1"


def test_changes_too_small_to_see_write_no_point() -> None:
    assert step_line([Step(x0=0, x1=1, y=10), Step(x0=1, x1=2, y=10.2), Step(x0=2, x1=3, y=12)]) == "M0 10h2v2h1"


def test_an_area_reaches_down_to_its_base() -> None:
    assert step_area([Step(x0=0, x1=1, y=10), Step(x0=1, x1=2, y=5)], base=30) == "M0 30v-20h1v-5h1v25z"


def test_a_band_covers_only_where_the_upper_line_is_above() -> None:
    upper = [Step(x0=0, x1=1, y=10), Step(x0=1, x1=2, y=30), Step(x0=2, x1=3, y=5)]
    lower = [Step(x0=0, x1=1, y=20), Step(x0=1, x1=2, y=20), Step(x0=2, x1=3, y=None)]
    assert band(upper, lower) == "M0 20v-10h1v10h-1z"


def test_places_of_annotations_are_in_percent() -> None:
    assert Scale(calls=225, top=1, height=1).percent(50) == 22.222
