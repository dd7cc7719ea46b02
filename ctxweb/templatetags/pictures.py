"""Places and words inside pictures."""

from __future__ import annotations

from typing import Any

from django import template

from ctxweb.charts.bars import PeakBar, peak_bar
from ctxweb.charts.scale import short
from ctxweb.charts.sparkline import Sparkline, sparkline
from ctxweb.templatetags.figures import number
from ctxweb.vocabulary import ACTIONS, KIND_WORDS, KINDS, UNEXPLAINED

register = template.Library()


@register.filter
def add_px(value: float, px: float) -> str:
    """A coordinate moved by some pixels."""
    return short(value + px)


@register.filter
def halfway(top: float, bottom: float) -> str:
    """The base line of a text in the middle between two heights."""
    return short((top + bottom) / 2 + 4)


@register.filter
def axis(tokens: int) -> str:
    """A label of the y axis: `50 k`, `1.2 M`, `0`."""
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:g} M"
    return f"{tokens // 1000} k" if tokens >= 1000 and tokens % 1000 == 0 else number(tokens)


@register.filter
def call_percent(call: int, calls: int) -> str:
    """The middle of a call, in percent of the width."""
    return f"{100 * (call - 0.5) / calls:.2f}"


@register.filter
def is_near_end(call: int, calls: int) -> bool:
    """Whether a label over this call would leave the picture, or meet that of the window."""
    return call > 0.88 * calls


@register.filter
def kind_word(name: str) -> str:
    return KIND_WORDS[name].word


@register.filter
def action_word(name: str) -> str:
    return ACTIONS[name].word


@register.simple_tag
def map_legend() -> list[tuple[str, str]]:
    """(colour class, word) of what a map by kind is made of, from the base upwards."""
    return [(kind.name, kind.word) for kind in (*KINDS, UNEXPLAINED)]


@register.simple_tag
def draw_spark(stored: dict[str, Any], window: int | None) -> Sparkline | None:
    """The sparkline of a session's stored sizes."""
    return sparkline(stored, window=window)


@register.simple_tag
def draw_peak(figure: int | None, limit: int | None) -> PeakBar | None:
    """A peak against its window."""
    return peak_bar(figure=figure, limit=limit)
