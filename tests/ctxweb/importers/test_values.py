"""Odd values of session files become plain ones, or unknown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxweb.importers.values import body_of, compact_json, count, media, odd_counts, plain_text, time_ms, word

pytestmark = pytest.mark.nodb


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0), (2**53, 2**53), (2**53 + 1, None), (-1, None), (1.0, None), (True, None), ("7", None), (None, None), ({}, None)],
)
def test_only_integers_up_to_two_to_the_53_are_counts(value: Any, expected: int | None) -> None:
    assert count(value) == expected


def test_figures_that_are_no_counts_are_flagged_and_missing_ones_are_not() -> None:
    assert odd_counts({"a": 1, "b": "1", "c": None}, ("a", "b", "c", "d")) == ("odd_b",)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-02T09:00:07.123Z", 1772442007123),
        ("2026-03-02T11:00:07+02:00", 1772442007000),
        ("2026-03-02T09:00:07", 1772442007000),
        (1772442007, 1772442007000),
        (1772442007000, 1772442007000),
        (1772442007.5, 1772442007500),
    ],
)
def test_times_are_milliseconds_since_1970_in_utc(value: Any, expected: int) -> None:
    assert time_ms(value) == expected


@pytest.mark.parametrize(
    "value", [-1, 0, 1e400, float("nan"), 10**30, True, "soon", "", None, [], "1970-01-01T00:00:00Z", "9999-12-31T00:00:00Z"]
)
def test_a_time_outside_any_agents_life_is_unknown(value: Any) -> None:
    assert time_ms(value) is None


@given(st.text(st.characters()))
def test_every_text_becomes_a_body_that_can_be_encoded_and_stored(text: str) -> None:
    body = body_of(text)
    assert body.text is not None
    assert len(body.text.encode()) >= body.chars == len(text)
    assert "\0" not in body.text


def test_nul_and_lone_surrogates_stay_visible() -> None:
    assert body_of("a\0b\ud83dc").text == "a␀b�c"


@pytest.mark.parametrize(
    ("value", "text", "flags"),
    [
        ("plain", "plain", ()),
        (None, "", ("content_null",)),
        ({"a": "é"}, '{"a":"é"}', ("content_not_text",)),
        (4.5, "4.5", ("content_not_text",)),
    ],
)
def test_a_value_of_any_shape_has_a_text_that_says_so(value: Any, text: str, flags: tuple[str, ...]) -> None:
    plain = plain_text(value)
    assert (plain.text, plain.flags) == (text, flags)


def test_words_are_short_texts_and_nothing_else() -> None:
    assert [word(value) for value in ("id", "", None, 7, "x" * 5000)] == ["id", None, None, None, "x" * 1000]


def test_json_is_compact_and_keeps_other_scripts() -> None:
    assert compact_json({"a": [1, "中"]}) == '{"a":[1,"中"]}'


def test_media_are_labels_with_their_decoded_size_and_never_their_data() -> None:
    one, other = (media("image", "image/png", data) for data in ("QUJD", "QUJE"))
    assert (one.media_type, one.size) == ("image/png", 3)
    assert one.label != other.label
    assert "QUJD" not in one.label
    assert media("document", None, place="file_1").label == "[document of unknown type at file_1]"
