"""How figures, times and transcript text look on a page: one filter a form. Unknown is `–`, never 0."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from django import template
from django.templatetags.static import static
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

from ctxweb.visible_text import escaped, pieces, unseen_count
from ctxweb.vocabulary import ACTIONS, FORMAT_NAMES, KIND_WORDS

register = template.Library()

UNKNOWN = "–"
MINUS = "−"
THIN_SPACE = "\u2009"
_MODEL_DATE = re.compile(r"-20\d{6}$")
_SIZES = ("bytes", "kB", "MB", "GB")


@register.filter
def number(value: int | None) -> str:
    """`155,023`."""
    return UNKNOWN if value is None else f"{value:,}".replace("-", MINUS)


@register.filter
def approx(value: int | None) -> str:
    """An estimate: `≈ 27,865`."""
    return UNKNOWN if value is None else f"≈{THIN_SPACE}{number(value)}"


@register.filter
def dollars(nano: int | None) -> str:
    """Nano-dollars: `$0.0123`, under a hundredth of a cent in full, `$0`."""
    if not nano:
        return UNKNOWN if nano is None else "$0"
    amount = nano / 1_000_000_000
    return f"${amount:,.4f}" if abs(nano) >= 100_000 else f"${amount:.9f}".rstrip("0")


@register.filter
def signed(value: int | None) -> str:
    """A difference: `+3,285`, `−94,565`, `0`."""
    if value is None:
        return UNKNOWN
    return f"+{value:,}" if value > 0 else number(value)


@register.filter
def kilo(value: int | None) -> str:
    """`27.9 k`; only inside pictures."""
    if value is None:
        return UNKNOWN
    return f"{value / 1000:.1f} k" if abs(value) >= 1000 else number(value)


@register.filter
def rounded(value: int | None) -> str:
    """A sum over calls: `25.6 M`, and in full under a million."""
    if value is None:
        return UNKNOWN
    return f"{value / 1_000_000:,.1f} M" if value >= 1_000_000 else number(value)


@register.filter
def size(value: int | None) -> str:
    """Bytes: `3.85 MB`."""
    if value is None:
        return UNKNOWN
    amount, unit = float(value), 0
    while amount >= 1000 and unit < len(_SIZES) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{value:,} bytes" if unit == 0 else f"{amount:.2f} {_SIZES[unit]}"


@register.filter
def percent(share: float | None) -> str:
    """A share of 0…1: `94 %`, under 10 % with one decimal."""
    if share is None:
        return UNKNOWN
    return f"{share:.0%}".replace("%", " %") if share >= 0.1 or share == 0 else f"{share:.1%}".replace("%", " %")


@register.filter
def share(value: float | None) -> str:
    """A share of 0…1 in a column headed by %: `40.8`."""
    return UNKNOWN if value is None else f"{value * 100:z.1f}".replace("-", MINUS)


@register.simple_tag
def figure(value: int | None) -> SafeString:
    """A figure in a column: zero and unknown are grey."""
    return format_html("{}", number(value)) if value else format_html('<span class="quiet">{}</span>', number(value))


@register.filter
def moment(at: datetime | None, start: datetime | None = None) -> SafeString:
    """Date and time to the minute, only the time on the day of `start`; scripts turn it to the reader's zone."""
    if at is None:
        return SafeString(UNKNOWN)
    same_day = start is not None and at.astimezone(UTC).date() == start.astimezone(UTC).date()
    return _time(at, "%H:%M" if same_day else "%Y-%m-%d %H:%M", "minute" if same_day else "both")


@register.filter
def day(at: datetime | None) -> SafeString:
    return SafeString(UNKNOWN) if at is None else _time(at, "%Y-%m-%d", "day")


@register.filter
def clock(at: datetime | None) -> SafeString:
    return SafeString(UNKNOWN) if at is None else _time(at, "%H:%M:%S", "second")


def _time(at: datetime, pattern: str, shown: str) -> SafeString:
    utc = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{} UTC" data-shown="{}">{}</time>',
        f"{utc:%Y-%m-%dT%H:%M:%SZ}",
        f"{utc:%Y-%m-%d %H:%M:%S}",
        shown,
        utc.strftime(pattern),
    )


@register.filter
def plain(text: object) -> str:
    """Transcript text for an attribute or a title: what cannot be seen is written as an escape."""
    return escaped(str(text))


@register.filter
def visible(text: object) -> SafeString:
    """Transcript text, escaped; what cannot be seen becomes a boxed escape, and a badge counts these."""
    string = str(text)
    hidden = unseen_count(string)
    if not hidden:
        return conditional_escape(string)
    parts = (_boxed(piece.text) if piece.is_escape else piece.text for piece in pieces(string))
    badge = "1 invisible character" if hidden == 1 else f"{hidden:,} invisible characters"
    return format_html('{}<span class="hidden-count">{}</span>', format_html_join("", "{}", ((part,) for part in parts)), badge)


def _boxed(escape: str) -> SafeString:
    return format_html('<span class="hidden-letter">{}</span>', escape)


@register.filter
def format_name(format_id: str) -> str:
    """The name by which users know a format."""
    return FORMAT_NAMES.get(format_id, format_id)


@register.filter
def model_name(model: str) -> str:
    """A model's name without its maker and date: `opus-4-5`."""
    return _MODEL_DATE.sub("", model.removeprefix("claude-"))


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """A symbol of icons.svg, for the eye only: the word stands beside it."""
    return format_html('<svg class="i {}" aria-hidden="true"><use href="{}#i-{}"/></svg>', extra, static("img/icons.svg"), name)


@register.simple_tag
def tag(family: str, name: str, word: object, symbol: str = "") -> SafeString:
    """Icon, word and colour: `family` k e s f, `name` its member, `symbol` where the icon is named otherwise."""
    return format_html('<span class="tag {}-{}">{}{}</span>', family, name, icon(symbol or name), word)


@register.simple_tag
def kind_tag(name: str, word: str = "") -> SafeString:
    """The tag of a block kind of `vocabulary.KINDS`."""
    kind = KIND_WORDS[name]
    return tag("k", kind.name, word or kind.word, kind.icon)


@register.simple_tag
def action_tag(name: str, word: object = "") -> SafeString:
    """The tag of an edit action of `vocabulary.ACTIONS`; `word` may be a count where the column says of what."""
    action = ACTIONS[name]
    return tag("e", action.name, word if word != "" else action.word, action.icon)


@register.simple_tag
def swatch(name: str) -> SafeString:
    """A square in the colour of a block kind, hatched for `unexplained`, with an edge."""
    return format_html(
        '<svg class="sw" viewBox="0 0 12 12" aria-hidden="true"><rect class="{}" x=".5" y=".5" width="11" height="11"/></svg>',
        "swatch-hatch" if name == "unexplained" else f"fill k-{name}",
    )


@register.simple_tag
def icon_address(name: str) -> str:
    """Where the symbol of an action lies, for a picture that places it itself."""
    return f"{static('img/icons.svg')}#i-{name}"
