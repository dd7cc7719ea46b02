"""The text of a block as a call held it."""

from __future__ import annotations

from django.http import Http404

from compaction.messages import BlockId
from ctxweb.models import Block, Span
from ctxweb.queries.readable import Lane


def text_digest(*, lane: Lane, place: BlockId, call: int | None) -> str:
    """The body, in hex, that call `call` held of a block; the logged one without a call, or where no edit changed it.

    Raises Http404.
    """
    block = Block.objects.filter(revision=lane.revision, seq=place.seq, i=place.i).select_related("body").defer("body__text").first()
    if block is None:
        raise Http404
    if call is not None:
        spans = Span.objects.filter(history=lane.history, seq=place.seq, i=place.i, from_call__lte=call, to_call__gt=call)
        body = spans.values_list("body", flat=True).first()
        if body:
            return bytes(body).hex()
    return bytes(block.body.digest).hex()
