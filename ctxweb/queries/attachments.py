"""Attachments: logged, and perhaps part of a prompt. They are shown beside a view and never counted in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ctxweb.models import Block, Compaction, LedgerEntry, Message
from ctxweb.queries.readable import Lane
from ctxweb.queries.view import CallView

ATTACHMENTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """One block of an attachment; `estimate` is what it would cost if it was sent."""

    block: str
    seq: int
    kind: str
    label: str
    estimate: int | None
    excerpt: str
    body: str


def view_attachments(*, lane: Lane, view: CallView, after: float | None) -> tuple[Attachment, ...]:
    """Attachments that may have been sent with the call, of messages between the blocks of this window of its view.

    None of those logged before the last summary are among them: it replaced the view that held them. The first window
    also has those before its first block, the last one those behind its last block.
    """
    call, seqs = view.call, [int(block.block.partition(".")[0]) for block in view.blocks]
    floor = _last_summary(lane, call.n)
    low = max(floor, seqs[0]) if after is not None and seqs else floor
    high = [seq for seq in (call.seq, lane.session.message_count + 1, seqs[-1] if view.next else None) if seq is not None]
    messages = Message.objects.filter(revision=lane.revision, visible="unknown", seq__gt=low, seq__lte=min(high), abandoned=call.abandoned)
    return tuple(_rows(lane, dict(messages.order_by("seq").values_list("seq", "label")[:ATTACHMENTS])))


def _last_summary(lane: Lane, n: int) -> int:
    """The message of the last summary before call `n`, 0 where there is none."""
    last = Compaction.objects.filter(history=lane.history, before_call__lte=n, detached=False, added__gt=0).order_by("-ordinal").first()
    if last is None:
        return 0
    added = LedgerEntry.objects.filter(compaction=last, adds=True, verb="summarise").order_by("seq").values_list("seq", flat=True)
    return added.first() or 0


def _rows(lane: Lane, labels: dict[int, str]) -> Iterable[Attachment]:
    blocks = Block.objects.filter(revision=lane.revision, seq__in=labels).select_related("body").defer("body__text").order_by("seq", "i")
    for block in blocks:
        yield Attachment(
            block=f"{block.seq}.{block.i}",
            seq=block.seq,
            kind=block.kind,
            label=labels[block.seq],
            estimate=block.estimate,
            excerpt=block.excerpt,
            body=bytes(block.body.digest).hex(),
        )
