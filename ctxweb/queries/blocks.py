"""Blocks and messages of a history by their places: those that were logged and, of a replay, those that it put in.

Every block comes with its life in this history. The rows of a session hold that of the recorded one; for a replay it is
taken from its spans and its ledger.
"""

from __future__ import annotations

from collections.abc import Collection

from ctxweb.models import AddedBlock, Block, LedgerEntry, Message, Span
from ctxweb.queries.readable import Lane

Place = tuple[int, int]


def lane_blocks(*, lane: Lane, seqs: Collection[int]) -> dict[Place, Block]:
    """The blocks of the messages `seqs` with their bodies, whose texts are not loaded."""
    rows = Block.objects.filter(revision=lane.revision, seq__in=seqs).select_related("body").defer("body__text").order_by("seq", "i")
    blocks = {(block.seq, block.i): block for block in rows}
    if lane.is_replayed:
        blocks |= _added_blocks(lane, seqs)
        _live_again(lane, blocks, seqs)
    return blocks


def lane_messages(*, lane: Lane, seqs: Collection[int]) -> dict[int, Message]:
    """The messages `seqs`."""
    messages = {message.seq: message for message in Message.objects.filter(revision=lane.revision, seq__in=seqs)}
    if lane.is_replayed:
        rows = AddedBlock.objects.filter(history=lane.history, seq__in=seqs).values_list("seq", "role", "origin")
        messages |= {
            seq: Message(revision=lane.revision, seq=seq, role=role, origin=origin, line=0, record=0, records=0)
            for seq, role, origin in rows
        }
    return messages


def lane_block(*, lane: Lane, place: Place) -> Block | None:
    """The block at `place`."""
    return lane_blocks(lane=lane, seqs=[place[0]]).get(place)


def _added_blocks(lane: Lane, seqs: Collection[int]) -> dict[Place, Block]:
    rows = AddedBlock.objects.filter(history=lane.history, seq__in=seqs).select_related("body").defer("body__text")
    return {(row.seq, row.i): _as_block(lane, row) for row in rows.order_by("seq", "i")}


def _as_block(lane: Lane, row: AddedBlock) -> Block:
    copied = ("seq", "i", "kind", "body", "tokens", "estimate", "chars", "tool_id", "tool_name", "path", "excerpt")
    return Block(revision=lane.revision, **{name: getattr(row, name) for name in copied})


def _live_again(lane: Lane, blocks: dict[Place, Block], seqs: Collection[int]) -> None:
    calls = lane.session.call_count
    for block in blocks.values():
        waits = block.end == "visible" and block.first_call is None  # for the next call, whatever the history
        block.first_call, block.last_call, block.end = None, None, "visible" if waits else "never_sent"
    spans = Span.objects.filter(history=lane.history, seq__in=seqs).order_by("from_call")
    for seq, i, start, end in spans.values_list("seq", "i", "from_call", "to_call"):
        block = blocks[seq, i]
        block.end = "visible" if end == Span.STILL_VISIBLE else ""
        if start <= calls:
            block.first_call = start if block.first_call is None else block.first_call
            block.last_call = min(end - 1, calls)
    taken = LedgerEntry.objects.filter(history=lane.history, seq__in=seqs, adds=False, state_after="").order_by("ordinal")
    for seq, i, verb in taken.values_list("seq", "i", "verb"):
        block = blocks[seq, i]
        block.end = verb if block.end == "" else block.end
