"""The text of a block in pieces: what is sent is bounded, what is asked for can all be reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Substr
from django.http import Http404

from compaction.messages import DIGEST_BYTES
from ctxweb.models import AddedBlock, Block, Body, LedgerEntry, Revision, Span, Summary, TokenCount
from ctxweb.visible_text import unseen_count

PIECE_CHARS = 16_384
DOWNLOAD_CHARS = 262_144
MARKUP_CHARS = 24  # what showing one unseen or escaped character may cost beyond itself
PIECE_MARKUP = 48_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFigure:
    encoding: str
    tokens: int
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyPiece:
    """Characters `start` … `end` (not included) of `chars`; `next` is where the text goes on, None at its end."""

    digest: str
    chars: int
    counts: tuple[TokenFigure, ...]
    blocks: tuple[str, ...]
    start: int
    end: int
    text: str
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """Head and tail of a text, at most CTXWEB_BODY_PREVIEW_BYTES together; `hidden` characters lie between them."""

    head: str
    hidden: int
    tail: str


def body_of(*, revision: Revision, digest: str) -> Body:
    """The body, without its text, if the session uses it in any state. Raises Http404."""
    try:
        key = bytes.fromhex(digest)
    except ValueError:
        raise Http404 from None
    used = len(key) == DIGEST_BYTES and (
        Block.objects.filter(revision=revision, body__digest=key).exists()
        or Span.objects.filter(history__revision=revision, body=key).exists()
        or LedgerEntry.objects.filter(history__revision=revision, body_after=key).exists()
        or AddedBlock.objects.filter(history__revision=revision, body__digest=key).exists()
        or Summary.objects.filter(session=revision.session.public_id if revision.session else "", body__digest=key).exists()
    )
    body = _bodies(key).first() if used else None
    if body is None:
        raise Http404
    return body


def _bodies(key: bytes) -> QuerySet[Body]:
    return Body.objects.filter(digest=key).defer("text")


def body_piece(*, revision: Revision, digest: str, start: int) -> BodyPiece:
    """The piece of the text that begins at character `start`. Raises Http404."""
    body = body_of(revision=revision, digest=digest)
    if not 0 <= start <= body.chars:
        raise Http404
    text = _bounded(_text(body, start, PIECE_CHARS))
    end = start + len(text)
    counts = TokenCount.objects.filter(body=body).order_by("encoding")
    places = Block.objects.filter(revision=revision, body=body).order_by("seq", "i").values_list("seq", "i")[:20]
    return BodyPiece(
        digest=digest,
        chars=body.chars,
        counts=tuple(TokenFigure(encoding=count.encoding, tokens=count.tokens, exact=count.exact) for count in counts),
        blocks=tuple(f"{seq}.{i}" for seq, i in places),
        start=start,
        end=end,
        text=text,
        next=end if end < body.chars else None,
    )


def body_texts(*, body: Body) -> Iterator[str]:
    """The whole text in pieces, for a download."""
    for start in range(0, body.chars, DOWNLOAD_CHARS):
        yield _text(body, start, DOWNLOAD_CHARS)


def body_preview(*, body: Body) -> Preview:
    """Three quarters of the allowance for the head, one for the tail."""
    allowed = int(settings.CTXWEB_BODY_PREVIEW_BYTES)
    if body.chars * 4 <= allowed:
        return Preview(head=_text(body, 0, body.chars), hidden=0, tail="")
    whole = _text(body, 0, allowed) if body.chars <= allowed else ""
    if whole and len(whole.encode()) <= allowed:
        return Preview(head=whole, hidden=0, tail="")
    head = _bytes_of(_text(body, 0, allowed), allowed * 3 // 4)
    tail = _bytes_of(_text(body, body.chars - allowed // 4, allowed // 4)[::-1], allowed // 4)[::-1]
    return Preview(head=head, hidden=body.chars - len(head) - len(tail), tail=tail)


def _text(body: Body, start: int, length: int) -> str:
    found = Body.objects.filter(pk=body.pk).annotate(piece=Substr("text", start + 1, length)).values_list("piece", flat=True).get()
    return str(found)


def _bytes_of(text: str, allowed: int) -> str:
    return text.encode()[:allowed].decode(errors="ignore")


def _bounded(text: str) -> str:
    """As much of `text` as keeps its markup bounded: hostile text is all escapes."""
    while len(text) > 1 and markup_size(text) > PIECE_MARKUP:
        text = text[: len(text) // 2]
    return text


def markup_size(text: str) -> int:
    """About how many bytes a text takes on a page."""
    return len(text.encode()) + MARKUP_CHARS * (unseen_count(text)) + 5 * sum(text.count(sign) for sign in "<>&\"'")
