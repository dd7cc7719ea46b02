"""The rows of a lane from the events that an importer yields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from compaction.history import History, Span, fold
from compaction.messages import Block, BlockId, Message
from compaction.replay.rows import BlockRow, CallRow, LaneFacts, MessageRow
from compaction.transcript import AFTER_REFUSAL, Edit, Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """All rows of one lane."""

    facts: LaneFacts
    messages: tuple[MessageRow, ...]
    blocks: tuple[BlockRow, ...]
    calls: tuple[CallRow, ...]


class _NoSizes:
    """Sizes for a fold of which only the places are read."""

    def whole(self, message: Message, block: Block) -> int:
        return 0

    def edited(self, block: Block, edit: Edit) -> int:
        return 0


def rows_of(events: Iterable[Event], facts: LaneFacts, counts: Mapping[bytes, int]) -> Rows:
    """Fold the events once. `counts` are the exact tokens of every body, by digest; raises TranscriptError as `fold` does."""
    logged: list[Message] = []
    history = fold(events, _NoSizes(), on_message=logged.append)
    overflowed = frozenset(
        folded.before_call for folded in history.compactions if folded.compaction.trigger == "overflow" and folded.before_call
    )
    refused = frozenset(call.n for call in history.calls if AFTER_REFUSAL in call.flags)
    return Rows(
        facts=replace(facts, overflowed=facts.overflowed | overflowed | refused, summaries=tuple(_summaries(history))),
        messages=tuple(_message_row(message) for message in logged),
        blocks=tuple(_block_rows(logged, _first_sights(history), counts)),
        calls=tuple(CallRow(call.n, call.seq, call.line, call.usage.prompt_tokens, call.abandoned) for call in history.calls),
    )


def _first_sights(history: History) -> dict[BlockId, Span]:
    sights: dict[BlockId, Span] = {}
    for span in history.spans:  # sorted by block, then call
        sights.setdefault(span.block, span)
    return sights


def _summaries(history: History) -> Iterator[tuple[int, int]]:
    """The messages that summarising edits put, with the last message that each stands for."""
    for _, group in groupby(history.ledger, key=attrgetter("compaction")):
        entries = [entry for entry in group if entry.verb == "summarise"]
        ends_at = max((entry.block.seq for entry in entries if not entry.adds), default=None)
        if ends_at is not None:
            yield from ((seq, ends_at) for seq in dict.fromkeys(entry.block.seq for entry in entries if entry.adds))


def _message_row(message: Message) -> MessageRow:
    return MessageRow(message.seq, message.role, message.origin, message.line, message.call, message.abandoned, message.label or "")


def _block_rows(logged: Iterable[Message], sights: Mapping[BlockId, Span], counts: Mapping[bytes, int]) -> Iterator[BlockRow]:
    for message in logged:
        for block in message.blocks:
            sight = sights.get(block.id)
            sent = sight is not None and sight.body is not None
            body = sight.body if sight is not None and sight.body is not None else block.body
            yield BlockRow(
                seq=block.id.seq,
                i=block.id.i,
                kind=block.kind,
                digest=body.digest,
                chars=body.chars,
                tokens=counts[body.digest],
                state=sight.state if sight is not None and sent else block.state,
                first_call=None if sight is None else sight.from_call,
                position=0.0 if sight is None else sight.position,
                tool_id=block.tool_id or "",
                tool_name=block.tool_name or "",
                path=block.path or "",
                is_error=block.is_error,
                signature_chars=block.signature_chars,
                media_bytes=block.media_bytes,
                flags=block.flags,
            )
