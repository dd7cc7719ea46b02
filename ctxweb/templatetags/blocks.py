"""How blocks, their states and their lives look in a row. Marks are made once: a window has hundreds of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from ctxweb import addresses
from ctxweb.queries.compact_requests import asks_compact
from ctxweb.queries.lives import LifeSpan
from ctxweb.templatetags.figures import UNKNOWN, action_tag, kind_tag, signed, size, tag, visible
from ctxweb.vocabulary import KIND_WORDS, kind_of

register = template.Library()

EXCERPT_BYTES = 100
EXCERPT_MARKUP = 400  # of hostile text, which is all escapes, less is shown
ENDS = {
    # end of a block: family, name, word, icon
    "visible": ("f", "kept", "visible", "kept"),
    "never_sent": ("e", "kept", "never sent", "kept"),
    **{name: ("e", name, word, name) for name, word in (
        ("summarise", "summarised"),
        ("clear", "cleared"),
        ("truncate", "truncated"),
        ("replace", "replaced"),
        ("spill", "spilled"),
        ("remove", "removed"),
        ("restore", "restored"),
    )},
}  # fmt: skip
SINCE = {
    "added": ("e", "added", "added", "added"),
    "changed": ("e", "replace", "changed", "changed"),
    "logged": ("e", "added", "logged", "added"),
    "visible": ("f", "kept", "visible", "kept"),
}


@register.simple_tag
@cache
def block_mark(kind: str, role: str, origin: str) -> SafeString:
    """The tag of a block's kind, in the colour of whoever spoke."""
    word = "document" if kind == "document" else ""
    return kind_tag(kind_of(kind=kind, role=role, origin=origin), word)


@register.simple_tag
@cache
def action_mark(action: str) -> SafeString:
    return action_tag(action)


@register.simple_tag
@cache
def end_mark(end: str) -> SafeString:
    """What became of a block; nothing for one that never was in a view."""
    return tag(*ENDS[end]) if end in ENDS else SafeString('<span class="quiet">never shown</span>')


@register.simple_tag
@cache
def since_mark(since: str) -> SafeString:
    """What a block is against the other call; only what differs has a colour."""
    return tag(*SINCE[since]) if since in SINCE else format_html('<span class="quiet">{}</span>', since)


@register.simple_tag
def compact_link(session: str, block: str, kind: str, tool_name: str) -> SafeString:
    """At an agent's own request for compaction: have that made now. Nothing at any other block."""
    if not asks_compact(kind=kind, tool_name=tool_name):
        return SafeString("")
    return format_html('<a class="label" href="{}">summarise up to here</a>', addresses.summarise(session, request=block))


@register.filter
def file_of(path: str) -> SafeString:
    """The last two parts of a path: enough to know a file by in a row."""
    parts = path.replace("\\", "/").rstrip("/").split("/")
    return short("/".join(parts[-2:]))


@register.filter
def short(text: str) -> SafeString:
    """The beginning of a transcript text for one line of a table."""
    cut = text.encode("utf-8", "replace")[:EXCERPT_BYTES].decode(errors="ignore")
    shown = visible(cut)
    while len(shown) > EXCERPT_MARKUP:
        cut = cut[: len(cut) // 2]
        shown = visible(cut)
    return shown if len(cut) == len(text) else format_html("{}…", shown)


@register.simple_tag
def life_bar(spans: Sequence[LifeSpan], calls: int, color: str) -> SafeString:
    """When a block was visible, over all `calls`; lower where an edit had shortened it."""
    bars = format_html_join("", '<rect class="fill k-{}" x="{}%" y="{}" width="{}%" height="{}"/>', _rects(spans, calls, color))
    said = ", ".join(f"calls {span.from_call:,}–{(span.to_call or calls + 1) - 1:,}{_state(span)}" for span in spans) or "in no prompt"
    return format_html('<svg class="life" role="img" aria-label="{}">{}</svg>', said, bars)


def _rects(spans: Sequence[LifeSpan], calls: int, color: str) -> Iterator[tuple[str, float, int, float, int]]:
    """Colour, x, y, width and height of each span; x and width in percent."""
    for span in spans:
        start, end = span.from_call - 1, (span.to_call or calls + 1) - 1
        top, height = (2, 8) if span.state == "whole" else (5, 2)
        yield color, round(100 * start / calls, 1), top, max(round(100 * (end - start) / calls, 1), 0.8), height


def _stretch(span: LifeSpan, calls: int) -> str:
    start, end = span.from_call - 1, (span.to_call or calls + 1) - 1
    top, height = (2, 8) if span.state == "whole" else (5, 2)
    return f"M{start} {top}h{max(end - start, 1)}v{height}H{start}z"


def _state(span: LifeSpan) -> str:
    return "" if span.state == "whole" else f" {span.state}"


@register.simple_tag
@cache
def block_color(kind: str, role: str, origin: str) -> str:
    """The colour class of a block, for its bar."""
    return kind_of(kind=kind, role=role, origin=origin)


@register.filter
def words(code: str) -> str:
    """`orphan_tool_result` as people read it."""
    return code.replace("_", " ")


@register.simple_tag
def change(before: int, after: int) -> str:
    """The difference an edit made, in tokens."""
    return signed(after - before)


@register.filter
@cache
def icon_of(kind: str) -> str:
    """The symbol of a block kind that stands for a row of its own."""
    return KIND_WORDS[kind_of(kind=kind, role="user", origin="human")].icon


@register.simple_tag
def lane_bar(spans: Sequence[LifeSpan], calls: int, kind: str, role: str, origin: str, cuts: Sequence[int]) -> SafeString:
    """A wide life bar with the calls before which edits came."""
    color = kind_of(kind=kind, role=role, origin=origin)
    path = "".join(_stretch(span, calls) for span in spans)
    lines = "".join(f"M{cut - 1} 0V12" for cut in cuts)
    return format_html(_LANE, max(calls, 1), calls, color, path, lines)


_LANE = (
    '<svg class="lane" viewBox="0 0 {} 12" preserveAspectRatio="none" aria-hidden="true"><path class="base" d="M0 6H{}"/>'
    '<path class="fill k-{}" d="{}"/><path class="cut" d="{}"/></svg>'
)


JOB_STATES = {
    # state: family, name, icon
    "queued": ("e", "kept", "kept"),
    "leased": ("e", "replace", "refetch"),
    "succeeded": ("s", "available", "available"),
    "failed": ("s", "corrupt", "corrupt"),
    "cancelled": ("s", "unsupported", "unsupported"),
    "abandoned": ("s", "corrupt", "corrupt"),
}
CHECKS = {
    "ok": ("s", "available", "works", "available"),
    "warning": ("s", "missing", "look", "warn"),
    "failed": ("s", "corrupt", "failed", "corrupt"),
}


@register.simple_tag
@cache
def job_mark(state: str) -> SafeString:
    family, name, symbol = JOB_STATES[state]
    return tag(family, name, "at work" if state == "leased" else state, symbol)


@register.simple_tag
@cache
def check_mark(state: str) -> SafeString:
    return tag(*CHECKS[state])


@register.filter
def rate(value: float | None, unit: str) -> str:
    """Units a second; bytes as MB."""
    if value is None:
        return UNKNOWN
    return size(int(value)) if unit == "bytes" else f"{value:,.0f}"


@register.filter
def duration(seconds: float | None) -> str:
    """`40 s`, `3 min`, `2 h 5 min`."""
    if seconds is None:
        return UNKNOWN
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
