"""The text of a checkpoint line by line, so that what is said of a line leads to it; folded where it is long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.conf import settings

from ctxweb import addresses
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.queries.body import markup_size

WHOLE_BYTES = 50_000  # of a text that was asked for: the page stays under 100 KB
ROW_BYTES = 70  # of a line's markup
MOST_LINES = 800
LINE_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """A line with its number (from 1); `folded` of them are not shown here. `is_cut`: it goes on."""

    number: int
    text: str = ""
    folded: int = 0
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownText:
    """`whole` leads to all of it that a page can hold, `bodies` to each of its texts alone; both only where something is folded."""

    lines: tuple[TextLine, ...]
    count: int
    chars: int
    whole: str | None
    bodies: tuple[str, ...]


def shown_text(checkpoint: Checkpoint, text: str, *, session: str, is_whole: bool) -> ShownText:
    """Head and tail of at most CTXWEB_BODY_PREVIEW_BYTES, or what a page can hold of it."""
    every = text.split("\n") if text else []
    allowed = WHOLE_BYTES if is_whole else int(settings.CTXWEB_BODY_PREVIEW_BYTES)
    lines = tuple(_folded(every, allowed, ROW_BYTES if is_whole else 0))
    is_folded = any(line.folded or line.is_cut for line in lines)
    return ShownText(
        lines=lines,
        count=len(every),
        chars=len(text),
        whole=addresses.checkpoint(session, checkpoint.key, text="all") + "#text" if is_folded and not is_whole else None,
        bodies=tuple(addresses.body(session, digest) for digest in checkpoint.bodies) if is_folded else (),
    )


def _folded(every: Sequence[str], allowed: int, row: int) -> Iterator[TextLine]:
    """Three quarters of what is allowed for the head, one for the tail."""
    head = _fitting(every, allowed * 3 // 4, row)
    tail = _fitting(every[head:][::-1], allowed // 4, row)
    hidden = len(every) - head - tail
    yield from (_line(every, place) for place in range(head))
    if hidden == 1:
        yield _line(every, head)
    elif hidden:
        yield TextLine(number=head + 1, folded=hidden)
    yield from (_line(every, place) for place in range(len(every) - tail, len(every)))


def _fitting(lines: Sequence[str], allowed: int, row: int) -> int:
    for place, line in enumerate(lines[:MOST_LINES]):
        allowed -= markup_size(line[:LINE_CHARS]) + row
        if allowed < 0:
            return place
    return min(len(lines), MOST_LINES)


def _line(every: Sequence[str], place: int) -> TextLine:
    text = every[place]
    return TextLine(number=place + 1, text=text[:LINE_CHARS], is_cut=len(text) > LINE_CHARS)
