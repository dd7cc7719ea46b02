"""Bins of calls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxweb.charts.bins import CallFigures, binned, bins_from_json, bins_to_json, kinds_per_call

pytestmark = pytest.mark.nodb


def calls_of(sizes: list[int | None]) -> list[CallFigures]:
    return [CallFigures(n=n, reported=size, kinds=(size or 0, 0)) for n, size in enumerate(sizes, 1)]


sessions = st.lists(st.one_of(st.none(), st.integers(0, 10**6)), min_size=1, max_size=900)


@given(sizes=sessions, data=st.data(), most=st.integers(1, 300))
def test_bins_cover_all_calls_once_and_no_drop_lies_inside_one(sizes: list[int | None], data: st.DataObject, most: int) -> None:
    drops = data.draw(st.lists(st.integers(1, len(sizes)), max_size=12))
    bins = binned(calls_of(sizes), drops=drops, most=most)
    assert [n for each in bins for n in range(each.first, each.last + 1)] == list(range(1, len(sizes) + 1))
    assert {each.first for each in bins} >= set(drops)
    assert len(bins) <= most + len(set(drops)) + 1


@given(sizes=sessions)
def test_every_peak_is_true(sizes: list[int | None]) -> None:
    calls = calls_of(sizes)
    bins = binned(calls, drops=(), most=30)
    assert max(each.call.size for each in bins) == max(call.size for call in calls)
    for each in bins:
        assert each.first <= each.call.n <= each.last
        assert each.call.kinds == calls[each.call.n - 1].kinds


def test_calls_that_fit_are_left_alone() -> None:
    assert len(binned(calls_of([1] * 300), drops=(4,))) == 300


def test_a_lane_without_calls_has_no_bins() -> None:
    assert binned([], drops=()) == ()


def test_the_least_cached_share_of_a_bin_is_shown() -> None:
    calls = [CallFigures(n=n, reported=10, kinds=(0,), cached=share) for n, share in enumerate([0.9, 0.1, None], 1)]
    assert [each.call.cached for each in binned(calls, drops=(), most=1)] == [0.1]


@given(sizes=sessions)
def test_stored_bins_come_back_as_they_were(sizes: list[int | None]) -> None:
    bins = binned(calls_of(sizes), drops=(), most=50)
    assert bins_from_json(bins_to_json(bins)) == bins


def test_a_span_counts_in_the_calls_that_saw_it() -> None:
    spans = [(0, 1, 3, 10), (1, 2, 2_000_000_000, 5)]
    assert kinds_per_call(spans, calls=4, kinds=2) == [(10, 0), (10, 5), (0, 5), (0, 5)]


@given(
    spans=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 20), st.integers(1, 30), st.integers(0, 99)).filter(lambda s: s[1] < s[2])),
)
def test_sums_equal_those_of_each_view(spans: list[tuple[int, int, int, int]]) -> None:
    sums = kinds_per_call(spans, calls=20, kinds=3)
    for n in range(1, 21):
        visible = [(kind, tokens) for kind, start, end, tokens in spans if start <= n < end]
        assert sums[n - 1] == tuple(sum(tokens for kind, tokens in visible if kind == place) for place in range(3))
