"""How blocks, their states and their lives look in a row. Marks are made once: a window has hundreds of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ctxweb.queries.lives import LifeSpan
from ctxweb.templatetags.figures import action_tag, kind_tag, tag, visible
from ctxweb.vocabulary import kind_of

register = template.Library()

EXCERPT_BYTES = 120
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
    "unchanged": ("e", "kept", "unchanged", "kept"),
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
    return tag(*SINCE[since]) if since in SINCE else SafeString("")


@register.filter
def short(text: str) -> SafeString:
    """The beginning of a transcript text for one line of a table."""
    if len(text) > EXCERPT_BYTES or not text.isascii():
        cut = text.encode("utf-8", "replace")[:EXCERPT_BYTES].decode(errors="ignore")
        text = cut if len(cut) == len(text) else f"{cut}…"
    return visible(text)


@register.simple_tag
def life_bar(spans: Sequence[LifeSpan], calls: int, color: str, cut: int | None = None) -> SafeString:
    """When a block was visible, over all `calls`; half as high where an edit had shortened it; `cut` marks a call."""
    path = "".join(_stretch(span, calls) for span in spans)
    line = format_html('<path class="x" d="M{} 0V12"/>', cut - 1) if cut else ""
    said = ", ".join(f"calls {span.from_call:,}–{(span.to_call or calls + 1) - 1:,}{_state(span)}" for span in spans) or "in no prompt"
    return format_html(_LIFE, max(calls, 1), said, color, path, line)


_LIFE = (
    '<svg class="life" viewBox="0 0 {} 12" preserveAspectRatio="none" role="img" aria-label="{}"><path class="fill k-{}" d="{}"/>{}</svg>'
)


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
