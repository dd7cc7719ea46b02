"""How figures and transcript text look."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.template import Context, Template

from ctxweb.templatetags import figures

pytestmark = pytest.mark.nodb


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (figures.number(155_023), "155,023"),
        (figures.number(-94_565), "−94,565"),
        (figures.number(None), "–"),
        (figures.number(0), "0"),
        (figures.approx(27_865), "≈\u200927,865"),
        (figures.approx(None), "–"),
        (figures.signed(3_285), "+3,285"),
        (figures.signed(-1), "−1"),
        (figures.signed(0), "0"),
        (figures.kilo(27_865), "27.9 k"),
        (figures.kilo(999), "999"),
        (figures.rounded(25_600_000), "25.6 M"),
        (figures.rounded(999_999), "999,999"),
        (figures.size(3_850_000), "3.85 MB"),
        (figures.size(999), "999 bytes"),
        (figures.percent(0.938), "94 %"),
        (figures.percent(0.021), "2.1 %"),
        (figures.percent(0.0), "0 %"),
        (figures.percent(None), "–"),
        (figures.share(0.4075), "40.8"),
        (figures.share(-0.1), "−10.0"),
        (figures.share(-0.00001), "0.0"),
        (figures.model_name("claude-opus-4-5-20251101"), "opus-4-5"),
        (figures.model_name("gpt-5.5"), "gpt-5.5"),
    ],
)
def test_a_figure_is_written_as_people_read_it(written: str, wanted: str) -> None:
    assert written == wanted


def test_zero_and_unknown_are_grey_in_a_column() -> None:
    assert figures.figure(7) == "7"
    assert figures.figure(0) == '<span class="quiet">0</span>'
    assert figures.figure(None) == '<span class="quiet">–</span>'


def test_a_time_carries_its_absolute_utc() -> None:
    at = datetime(2026, 1, 23, 14, 21, 5, tzinfo=UTC)
    assert figures.moment(at) == (
        '<time datetime="2026-01-23T14:21:05Z" title="2026-01-23 14:21:05 UTC" data-shown="both">2026-01-23 14:21</time>'
    )
    assert ">17:51<" in figures.moment(at.replace(hour=17, minute=51), at)
    assert ">2026-01-24 17:51<" in figures.moment(at.replace(day=24, hour=17, minute=51), at)
    assert figures.day(None) == "–"


HOSTILE = ["<script>alert(1)</script>", '" onmouseover="x', "</style><img src=x>", "{{ 7|add:7 }}", "&lt;b&gt;"]


@pytest.mark.parametrize("text", HOSTILE)
def test_transcript_text_is_escaped_by_both_filters(text: str) -> None:
    page = Template('{% load figures %}<p title="{{ text|plain }}">{{ text|visible }}</p>').render(Context({"text": text}))
    assert page.count("<") == 2
    assert page.count('"') == 2


@pytest.mark.parametrize(
    ("text", "escape"),
    [
        ("access \u202enimda", "\\u202e"),
        ("a\u200bb", "\\u200b"),
        ("\x1b[31m", "\\x1b"),
        ("a\U000e0041", "\\U000e0041"),
        ("a\ud800b", "\\ud800"),
        ("a\u2028b", "\\u2028"),
    ],
)
def test_what_cannot_be_seen_is_written_as_an_escape_and_counted(text: str, escape: str) -> None:
    shown = str(figures.visible(text))
    assert f'<span class="hidden-letter">{escape}</span>' in shown
    assert "1 invisible character" in shown
    assert escape in figures.plain(text)
    shown.encode()


def test_newlines_tabs_and_chinese_stay_as_they_are() -> None:
    assert figures.visible("行一\n\t行二\u3000x") == "行一\n\t行二\u3000x"


def test_two_invisible_letters_are_counted_together() -> None:
    assert "2 invisible characters" in figures.visible("\u200b\u200c")
