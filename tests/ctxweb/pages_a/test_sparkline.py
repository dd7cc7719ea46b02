"""The map in small."""

from __future__ import annotations

import pytest

from ctxweb.charts.bars import peak_bar, share_bar
from ctxweb.charts.bins import CallFigures, binned
from ctxweb.charts.sparkline import MOST_SPARK_BINS, spark_to_json, sparkline

pytestmark = pytest.mark.nodb


def stored(sizes: list[int], *, recorded: tuple[int, ...] = (), inferred: tuple[int, ...] = ()) -> dict[str, object]:
    calls = [CallFigures(n=n, reported=size, kinds=()) for n, size in enumerate(sizes, 1)]
    return spark_to_json(binned(calls, drops=[*recorded, *inferred], most=MOST_SPARK_BINS), recorded=recorded, inferred=inferred)


def test_the_edges_that_close_the_area_lie_outside_the_picture() -> None:
    drawn = sparkline(stored([100, 200]), window=200)
    assert drawn is not None
    assert drawn.area == "M-2 30V12H1V2H4V30z"
    assert drawn.width == 2


def test_drops_stand_at_the_first_bin_that_is_smaller() -> None:
    drawn = sparkline(stored([10_000, 20_000, 5_000, 9_000, 2_000], recorded=(3,), inferred=(5,)), window=None)
    assert drawn is not None
    assert drawn.recorded.startswith("M2 ")
    assert drawn.inferred.startswith("M4 ")
    assert drawn.drops == 2
    assert not drawn.has_window


def test_a_call_of_unknown_size_is_no_drop_to_zero() -> None:
    assert stored([100, 0, 200])["sizes"] == [100, None, 200]
    for sizes, like in (([100, 0, 200], [100, 100, 200]), ([0, 100, 200], [100, 100, 200]), ([100, 200, 0], [100, 200, 200])):
        assert sparkline(stored(sizes), window=200) == sparkline(stored(like), window=200)
    assert sparkline(stored([0, 0]), window=200) is not None


def test_a_long_session_stays_small() -> None:
    drawn = sparkline(stored([n * 37 % 90_000 for n in range(5_000)]), window=200_000)
    assert drawn is not None
    assert len(drawn.area) < 900


def test_a_session_without_calls_has_none() -> None:
    assert sparkline({}, window=None) is None
    assert sparkline(stored([]), window=None) is None


def test_shares_stand_side_by_side_and_empty_ones_are_left_out() -> None:
    parts = share_bar([("f-kept", 1), ("e-clear", 0), ("e-summarise", 3)])
    assert [(part.name, part.x, part.width) for part in parts] == [("f-kept", 0.0, 25.0), ("e-summarise", 25.0, 75.0)]
    assert share_bar([("f-kept", 0)]) == ()


def test_a_peak_over_its_window_fills_the_bar_and_an_unknown_one_has_none() -> None:
    full = peak_bar(figure=300, limit=200)
    assert full is not None
    assert (full.width, full.hot) == (78.0, True)
    assert peak_bar(figure=None, limit=200) is None
    assert peak_bar(figure=10, limit=None) is None
