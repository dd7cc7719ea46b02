"""How far each unit is from exact tokens, by kind of content."""

from __future__ import annotations

import pytest

from compaction.analysis.deviation import TEXT_GROUPS, deviations, group_of, grouped
from compaction.counters.bpe import O200K_BASE
from compaction.counters.units import UNITS

ENGLISH = "The importer reads the session once and keeps what it has seen, so that a later file of the same run is known again."
CHINESE = "导入程序只读取一次会话并记住它所看到的内容，因此以后同一次运行的文件会被再次认出，而不会重复保存。"
JSON = '{"session": "a1b2", "calls": [{"n": 1, "tokens": 18234}, {"n": 2, "tokens": 19001}], "ok": true}'
CODE = "def total(rows: list[Row]) -> int:\n    return sum(row.tokens for row in rows if row.visible)\n"
LOG = "2026-11-30 19:28:01 INFO import: 128 records\n2026-11-30 19:28:02 WARN import: record 7 repeats record 3\n"

SAMPLES = {"English": ENGLISH, "Chinese": CHINESE, "JSON": JSON, "code": CODE, "logs": LOG}


def exact(text: str) -> int:
    return O200K_BASE.count(text).tokens


@pytest.mark.parametrize(("group", "text"), SAMPLES.items())
def test_a_text_is_grouped_by_what_it_is(group: str, text: str) -> None:
    assert group_of(text) == group


def test_groups_come_in_one_order_and_only_where_they_have_texts() -> None:
    assert tuple(grouped(reversed(SAMPLES.values()))) == TEXT_GROUPS
    assert grouped([ENGLISH, JSON, ENGLISH]) == {"English": [ENGLISH, ENGLISH], "JSON": [JSON]}


def test_a_quarter_of_the_characters_is_too_little_for_chinese_and_near_for_english() -> None:
    found = {(one.group, one.unit): one for one in deviations(grouped(SAMPLES.values()), exact)}
    assert found["Chinese", "s14_chars4"].median < 0.7
    assert 0.9 < found["English", "s14_chars4"].median < 1.4
    assert found["English", "s08_repr"].of == "characters"
    assert found["English", "s08_repr"].median > 4


def test_every_unit_but_the_exact_one_is_compared_in_each_group() -> None:
    found = deviations({"English": [ENGLISH], "JSON": [JSON]}, exact)
    assert [(one.group, one.unit) for one in found] == [
        (group, unit.id) for group in ("English", "JSON") for unit in UNITS if unit.id != "exact"
    ]


def test_spread_leaves_out_a_tenth_at_each_end_and_sums_are_pooled() -> None:
    letters = ["x" * length for length in range(40, 440, 40)] + ["y" * 4_000]
    tokens = dict.fromkeys(letters, 10)
    (one,) = [one for one in deviations({"any": letters}, tokens.__getitem__) if one.unit == "s14_chars4"]
    assert (one.texts, one.own, one.exact) == (11, 1_550, 110)
    assert (one.median, one.low, one.high) == (6.0, 2.0, 10.0)
    assert one.pooled == pytest.approx(1_550 / 110)


def test_texts_of_a_few_tokens_say_nothing_about_a_unit() -> None:
    assert deviations({"English": ["yes", "no"], "none": []}, exact) == ()
