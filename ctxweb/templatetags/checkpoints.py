"""How checkpoints, outcomes and shares look."""

from __future__ import annotations

from functools import cache

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from compaction.line_diff import DiffWord
from ctxweb import addresses
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.findings import Figures
from ctxweb.templatetags.blocks import file_of, short
from ctxweb.templatetags.figures import icon, tag, visible
from ctxweb.views.checkpoint_words import CONTRADICTION_WORDS, KIND_WORDS, OBJECTION_WORDS, calls_of

register = template.Library()

OUTCOMES = {
    # outcome: family, name, word, icon
    "kept": ("f", "carried", "kept", "summary"),
    "changed": ("f", "refetched", "changed", "changed"),
    "lost": ("f", "lost", "lost", "remove"),
}
ONE_OF = {"url": "address", "hash": "hash"}
BAR = 100  # units of a bar


@register.simple_tag
def origin_mark(checkpoint: Checkpoint) -> SafeString:
    """Whether its file recorded it, or a summary job made it."""
    return tag("e", "summarise", "recorded", "summarise") if checkpoint.origin == "recorded" else tag("e", "added", "made", "summary")


@register.simple_tag
def call_range(checkpoint: Checkpoint) -> str:
    """`calls 51–127`."""
    return calls_of(checkpoint)


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


@register.simple_tag
@cache
def item_mark(kind: str) -> SafeString:
    """The kind of an item, one of them."""
    word, symbol = KIND_WORDS[kind]
    return format_html("{} {}", icon(symbol), ONE_OF.get(kind, word.removesuffix("s")))


@register.simple_tag
def block_said(session: str, place: str) -> str:
    """Where a block stands among the messages."""
    return addresses.block_said(session, place)


@register.simple_tag
def objection_word(code: str) -> str:
    return OBJECTION_WORDS.get(code, code.replace("_", " "))


@register.simple_tag
def contradiction_word(kind: str) -> str:
    return CONTRADICTION_WORDS[kind]


@register.simple_tag
def item_text(kind: str, text: str) -> SafeString:
    """What was said in one line: of a path the part that it is known by."""
    return file_of(text) if kind == "path" else short(text)


@register.simple_tag
@cache
def cell_mark(outcome: str | None) -> SafeString:
    """What became of an item in one of several checkpoints: a matrix has hundreds of these, so without an icon."""
    if outcome is not None:
        family, name, word, _ = OUTCOMES[outcome]
        return format_html('<span class="tag {}-{}">{}</span>', family, name, word)
    return SafeString('<span class="quiet" title="not yet said">–</span>')


@register.simple_tag
def diff_words(words: tuple[DiffWord, ...]) -> SafeString:
    """A line with its changed words marked."""
    return format_html_join("", "{}", ((format_html("<b>{}</b>", visible(text)) if changed else visible(text),) for text, changed in words))


@register.simple_tag
def moved_mark(line: int | None, way: str) -> SafeString:
    return SafeString("") if line is None else format_html(' <span class="label">moved {} line {}</span>', way, line)


@register.simple_tag
def hunk_link(address: str, hunk: str) -> SafeString:
    """The permalink of a run of changes."""
    joint = "&" if "?" in address else "?"
    return format_html('<a class="hunk" href="{}{}hunk={}#{}" aria-label="link to this change">#</a>', address, joint, hunk, hunk)


@register.simple_tag
def key_at(keys: tuple[str, ...], place: int) -> str:
    """The checkpoint at a place of a chain."""
    return keys[place]
