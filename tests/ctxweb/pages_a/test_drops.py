"""Lines, labels and icons of drops."""

from __future__ import annotations

from typing import Any

import pytest

from ctxweb.charts.drops import Drop, drop_lines, mechanism_icons, trigger_of
from ctxweb.charts.scale import Scale

pytestmark = pytest.mark.nodb
SCALE = Scale(calls=200, top=210_000, height=310)


def drop(call: int, **fields: Any) -> Drop:
    usual: dict[str, Any] = {
        "ordinal": 1,
        "action": "summarise",
        "word": "summary",
        "inferred": False,
        "before": 155_000,
        "after": 60_000,
        "trigger": "auto",
    }
    return Drop(before_call=call, **{**usual, **fields})


def test_a_drop_is_a_vertical_at_the_border_before_its_call() -> None:
    (line,) = drop_lines([drop(51)], scale=SCALE)
    assert line.percent == 25.0
    assert (line.y1, line.y2) == (81.2, 221.4)
    assert line.change == -95_000
    assert line.labelled


def test_of_two_near_drops_only_the_larger_has_a_label() -> None:
    lines = drop_lines([drop(50, before=100_000), drop(55)], scale=SCALE)
    assert [line.labelled for line in lines] == [False, True]


def test_above_twelve_drops_no_label_is_written() -> None:
    assert not any(line.labelled for line in drop_lines([drop(10 * n) for n in range(1, 14)], scale=SCALE))
    assert all(line.labelled for line in drop_lines([drop(16 * n) for n in range(1, 13)], scale=SCALE))


def test_labels_turn_to_the_left_near_the_right_edge() -> None:
    inside, upper, both = drop_lines([drop(20), drop(167), drop(190)], scale=Scale(calls=200, top=210_000, height=310))
    assert (inside.upper_end, inside.foot_end) == (False, False)
    assert (upper.upper_end, upper.foot_end) == (True, False)
    assert (both.upper_end, both.foot_end) == (True, True)


def test_several_layers_before_one_call_are_one_line_and_icons_side_by_side() -> None:
    together = [drop(51, action="clear", word="results cleared"), drop(51)]
    (line,) = drop_lines(together, scale=SCALE)
    assert (line.word, line.action) == ("results cleared + summary", "summarise")
    assert [(icon.action, icon.shift) for icon in mechanism_icons(together, scale=SCALE)] == [("clear", -15), ("summarise", 1)]


def test_icons_that_would_overlap_are_left_out() -> None:
    assert len(mechanism_icons([drop(n) for n in range(1, 200)], scale=SCALE)) <= 1010 / 14


def test_a_drop_without_known_sizes_has_an_icon_but_no_line() -> None:
    unknown = [drop(51, before=None, after=None)]
    assert drop_lines(unknown, scale=SCALE) == ()
    assert len(mechanism_icons(unknown, scale=SCALE)) == 1


def test_an_inferred_drop_hangs_from_its_label() -> None:
    (line,) = drop_lines([drop(51, inferred=True, before=130_000, after=115_000)], scale=SCALE)
    assert line.y1 == 33.5
    assert line.upper_y == 29.5


def test_a_short_drop_leaves_out_the_size_after_it() -> None:
    (line,) = drop_lines([drop(51, before=155_000, after=140_000)], scale=SCALE)
    assert line.foot_y is None


@pytest.mark.parametrize(("after", "place"), [(60_000, 237.4), (1_000, 286.5)])
def test_the_size_after_a_drop_stands_clear_of_the_reported_line(after: int, place: float) -> None:
    (line,) = drop_lines([drop(51, after=after)], scale=SCALE)
    assert line.foot_y == place
    assert line.foot_y > line.y2 + 12 or line.foot_y < line.y2 - 12


def test_the_trigger_is_where_automatic_compactions_began() -> None:
    assert trigger_of([drop(51, before=154_445), drop(128, before=155_023), drop(190, before=154_666)]) == 155_000


@pytest.mark.parametrize("changes", [{"trigger": "manual"}, {"inferred": True}, {"estimated": True}, {"before": 90_000}])
def test_no_trigger_is_drawn_unless_two_agree(changes: dict[str, Any]) -> None:
    assert trigger_of([drop(51), drop(100, **changes)]) is None
