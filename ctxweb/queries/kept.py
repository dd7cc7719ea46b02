"""What a message says, for a form that keeps it as a fact."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404

from compaction.messages import BlockId
from ctxweb.models import Block, Message, Revision
from ctxweb.queries.body import body_preview

MOST_CHARS = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """The text of one block of a message, its beginning where it is long; `record` is where the source will be."""

    seq: int
    block: str
    role: str
    record: int
    text: str
    is_cut: bool


def quoted_block(*, revision: Revision, block: BlockId) -> Quoted:
    """Raises Http404."""
    message = Message.objects.filter(revision=revision, seq=block.seq).first()
    found = Block.objects.filter(revision=revision, seq=block.seq, i=block.i).select_related("body").defer("body__text").first()
    if message is None or found is None:
        raise Http404
    preview = body_preview(body=found.body) if found.body is not None else None
    text = preview.head if preview is not None else ""
    return Quoted(
        seq=block.seq,
        block=f"{block.seq}.{block.i}",
        role=message.role,
        record=message.record,
        text=text[:MOST_CHARS],
        is_cut=bool(preview and preview.hidden) or len(text) > MOST_CHARS,
    )
