"""The text of a block as a call held it."""

from __future__ import annotations

from django.http import Http404

from compaction.messages import BlockId
from ctxweb.models import Span
from ctxweb.queries.blocks import lane_block
from ctxweb.queries.readable import Lane


def text_digest(*, lane: Lane, place: BlockId, call: int | None) -> str | None:
    """The body, in hex, that call `call` held of a block, None where the source does not tell it; the logged one without
    a call, or one that no call has seen. Raises Http404.
    """
    block = lane_block(lane=lane, place=place)
    if block is None:
        raise Http404
    if call is not None:
        spans = Span.objects.filter(history=lane.history, seq=place.seq, i=place.i, from_call__lte=call, to_call__gt=call)
        span = spans.first()
        if span is not None:
            return bytes(span.body).hex() if span.body else None
    return bytes(block.body.digest).hex()
