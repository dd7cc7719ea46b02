"""How statuses, looks and ages of sources look."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from ctxweb.templatetags.figures import UNKNOWN, tag
from ctxweb.views.source_rows import Strip

register = template.Library()

UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_STATUS_ICONS = {"available", "missing", "denied", "corrupt", "unsupported"}
_WORDS = {
    "signed_off": ("signed off", "kept"),
    "unchecked": ("not checked", "unexplained"),
    "changed": ("changed since confirmed", "changed"),
}


@register.simple_tag
@cache
def status_mark(status: str) -> SafeString:
    """Icon, word and colour of a status."""
    if status in _STATUS_ICONS:
        return tag("s", status, status)
    word, icon = _WORDS.get(status, (status, "unexplained"))
    return tag("s", "missing", word, icon) if status == "changed" else tag("e", "kept", word, icon)


@register.simple_tag
@cache
def strip_marks(strip: Strip) -> SafeString:
    """The last looks at a source, a bar each; a bad one has a stroke through it, so that colour is not alone."""
    return format_html(
        '<svg class="looks" viewBox="0 0 130 14" role="img" aria-label="{}">{}{}</svg>',
        strip.said,
        format_html_join("", '<path class="h-{}" d="M{} 7H{}"/>', ((run.status, run.start, run.end) for run in strip.runs)),
        format_html_join("", '<path class="hx" d="M{} 7H{}"/>', ((r.start + 2, r.end) for r in strip.runs if r.status != "available")),
    )


@register.filter
def age(at: datetime | str | None) -> SafeString:
    """How long ago, in words; the absolute UTC stays in the title. `–` where there is no time."""
    moment = _moment(at)
    if moment is None:
        return SafeString(UNKNOWN)
    utc = moment.astimezone(UTC)
    seconds = (timezone.now() - moment).total_seconds()
    words = next((f"{seconds // size:.0f} {unit}" for size, unit in UNITS if seconds >= size), "now")
    return format_html('<time datetime="{}" title="{} UTC">{}</time>', f"{utc:%Y-%m-%dT%H:%M:%SZ}", f"{utc:%Y-%m-%d %H:%M:%S}", words)


@register.filter
def as_moment(at: str) -> datetime | None:
    """A time that was kept as text, for the filters of figures."""
    return _moment(at)


def _moment(at: datetime | str | None) -> datetime | None:
    if not isinstance(at, str):
        return at
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
