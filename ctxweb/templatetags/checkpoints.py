"""How checkpoints, outcomes and shares look."""

from __future__ import annotations

from functools import cache

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import Figures
from ctxweb.templatetags.figures import tag

register = template.Library()

OUTCOMES = {
    # outcome: family, name, word, icon
    "kept": ("f", "carried", "kept", "summary"),
    "changed": ("f", "refetched", "changed", "changed"),
    "lost": ("f", "lost", "lost", "remove"),
}
BAR = 100  # units of a bar


@register.simple_tag
def origin_mark(checkpoint: Checkpoint) -> SafeString:
    """Whether its file recorded it, or a summary job made it."""
    return tag("e", "summarise", "recorded", "summarise") if checkpoint.origin == "recorded" else tag("e", "added", "made", "summary")


@register.simple_tag
@cache
def outcome_mark(outcome: str) -> SafeString:
    """Icon, word and colour of what became of an item."""
    return tag(*OUTCOMES[outcome])


@register.simple_tag
def kept_bar(figures: Figures) -> SafeString:
    """Kept, changed and lost items as shares of a bar; the figures stand beside it."""
    return retention_bar(figures.kept, figures.changed, figures.lost)


@register.simple_tag
def retention_bar(kept: int, changed: int, lost: int) -> SafeString:
    total = kept + changed + lost
    if not total:
        return SafeString("")
    first = round(BAR * kept / total)
    second = round(BAR * (kept + changed) / total)
    return format_html(_BAR, kept, changed, lost, BAR, second, first)


_BAR = (
    '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="{} kept, {} changed, {} lost">'
    '<rect class="fill f-lost" width="{}" height="8"/><rect class="fill f-refetched" width="{}" height="8"/>'
    '<rect class="fill f-carried" width="{}" height="8"/></svg>'
)
