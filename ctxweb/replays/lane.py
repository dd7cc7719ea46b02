"""A stored lane as it can be replayed: a few queries, without its texts, kept for the next policy that is tried on it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock, RLock
from typing import Any

from django.conf import settings

from compaction.counters import bpe
from compaction.counters.agreement import agrees
from compaction.counters.sizes import TextSizes
from compaction.replay.replayable import Replayable, replayable_of
from compaction.replay.rows import BlockRow, CallRow, LaneFacts, MessageRow
from compaction.transcript import AFTER_REFUSAL
from ctxweb.models import Block, Body, Compaction, History, Message, ModelCall, Revision, Session, Span

READ_ROWS = 2_000
TEXTS_AT_ONCE = 500
SIZE_COLUMNS = ("utf16", "utf8", "json", "repr", "object_json", "object_repr", "object_compact")
_Key = tuple[int, datetime, int | None]


@dataclass(slots=True)
class _Kept:
    """A lane, and the lock of whoever replays it: what it measures is kept inside, so it serves one thread at a time."""

    lock: RLock = field(default_factory=RLock)
    lane: Replayable | None = None


_kept: OrderedDict[_Key, _Kept] = OrderedDict()
_kept_lock = Lock()


@contextmanager
def replayable_lane(*, session: Session, revision: Revision) -> Iterator[Replayable]:
    """The lane of a published revision, for this thread alone while the block runs. The CTXWEB_REPLAY_LANES last used ones are
    kept in memory."""
    kept = _kept_of((revision.pk, revision.created_at, session.window))
    with kept.lock:
        if kept.lane is None:
            kept.lane = _load(session, revision)
        yield kept.lane


def _kept_of(key: _Key) -> _Kept:
    with _kept_lock:
        kept = _kept.setdefault(key, _Kept())
        _kept.move_to_end(key)
        while len(_kept) > settings.CTXWEB_REPLAY_LANES:
            _kept.popitem(last=False)
        return kept


def _load(session: Session, revision: Revision) -> Replayable:
    history = History.objects.get(revision=revision, origin="recorded")
    sizes: dict[bytes, TextSizes] = {}
    blocks = list(_blocks(revision, _first_spans(history), sizes))
    return replayable_of(
        _facts(session, history),
        _messages(revision),
        blocks,
        _calls(revision),
        texts=_texts,
        sizes=sizes,
        count=counter_of(session.encoding),
    )


def _facts(session: Session, history: History) -> LaneFacts:
    overflows = Compaction.objects.filter(history=history, trigger="overflow", before_call__isnull=False)
    refused = ModelCall.objects.filter(revision=history.revision_id, flags__contains=AFTER_REFUSAL)
    return LaneFacts(
        public_id=session.public_id,
        format=session.format,
        kind=session.lane,  # type: ignore[arg-type]  # the column holds a LaneKind
        window=session.window,
        overflowed=frozenset(call for call in overflows.values_list("before_call", flat=True) if call is not None).union(
            refused.values_list("n", flat=True)
        ),
    )


def _messages(revision: Revision) -> Iterator[MessageRow]:
    names = ("seq", "role", "origin", "line", "call", "abandoned", "label")
    return (MessageRow(*row) for row in Message.objects.filter(revision=revision).values_list(*names).iterator(READ_ROWS))


def _calls(revision: Revision) -> Iterator[CallRow]:
    names = ("n", "seq", "line", "prompt_tokens", "abandoned")
    return (CallRow(*row) for row in ModelCall.objects.filter(revision=revision).values_list(*names).iterator(READ_ROWS))


@dataclass(frozen=True, slots=True)
class _First:
    """The first span of a block: how it was sent at first."""

    call: int
    state: str
    position: float
    tokens: int | None
    body: bytes | None


def _first_spans(history: History) -> dict[tuple[int, int], _First]:
    rows = Span.objects.filter(history=history).order_by("seq", "i", "from_call", "pk")
    found: dict[tuple[int, int], _First] = {}
    for seq, i, call, state, position, tokens, body in rows.values_list(
        "seq", "i", "from_call", "state", "position", "tokens", "body"
    ).iterator(READ_ROWS):
        if (seq, i) not in found:
            found[seq, i] = _First(call, state, position, tokens, None if body is None else bytes(body))
    return found


_OWN = ("seq", "i", "kind", "state", "tool_id", "tool_name", "path", "is_error", "signature_chars", "media_bytes", "flags")
_OF_BODY = ("body__digest", "chars", "tokens", *(f"body__{name}" for name in SIZE_COLUMNS))


def _blocks(revision: Revision, firsts: Mapping[tuple[int, int], _First], sizes: dict[bytes, TextSizes]) -> Iterator[BlockRow]:
    """Each block as it was first sent; the lengths of its text go to `sizes`."""
    logged: dict[bytes, int] = {}
    changed: list[tuple[BlockRow, _First]] = []
    uses: dict[str, tuple[str, str]] = {}
    rows = Block.objects.filter(revision=revision).order_by("seq", "i").values_list(*_OWN, *_OF_BODY)
    for row in rows.iterator(READ_ROWS):
        own, (digest, chars, tokens, *lengths) = row[: len(_OWN)], row[len(_OWN) :]
        digest = bytes(digest)
        logged[digest] = chars
        _measure(sizes, digest, chars, lengths)
        first = firsts.get((own[0], own[1]))
        block = _as_logged(_block_row(own, digest, chars, tokens or 0, first), uses)
        if first is not None and first.body is not None and first.body != digest:
            changed.append((block, first))
        else:
            yield block
    yield from _as_sent(changed, sizes)


def _block_row(own: tuple[Any, ...], digest: bytes, chars: int, tokens: int, first: _First | None) -> BlockRow:
    seq, i, kind, state, tool_id, tool_name, path, is_error, signature_chars, media_bytes, flags = own
    return BlockRow(
        seq=seq,
        i=i,
        kind=kind,
        digest=digest,
        chars=chars,
        tokens=tokens,
        state=state if first is None else first.state,  # type: ignore[arg-type]  # the column holds a BlockState
        first_call=None if first is None else first.call,
        position=0.0 if first is None else first.position,
        tool_id=tool_id,
        tool_name=tool_name,
        path=path,
        is_error=is_error,
        signature_chars=signature_chars,
        media_bytes=media_bytes,
        flags=tuple(flags.split(",")) if flags else (),
    )


def _as_logged(block: BlockRow, uses: dict[str, tuple[str, str]]) -> BlockRow:
    """A result without the tool and the file that its row took from its use: a layer asks what the result itself says."""
    if block.kind == "tool_use" and block.tool_id:
        uses[block.tool_id] = (block.tool_name, block.path)
    if block.kind != "tool_result":
        return block
    tool_name, path = uses.get(block.tool_id, ("", ""))
    return block._replace(tool_name="" if block.tool_name == tool_name else block.tool_name, path="" if block.path == path else block.path)


def _as_sent(changed: list[tuple[BlockRow, _First]], sizes: dict[bytes, TextSizes]) -> Iterator[BlockRow]:
    """Blocks that were shortened before any call saw them, with the text that was sent."""
    wanted = {first.body for _, first in changed if first.body is not None}
    rows = Body.objects.filter(digest__in=wanted).values_list("digest", "chars", *SIZE_COLUMNS) if wanted else ()
    chars_of = {}
    for digest, chars, *lengths in rows:
        chars_of[bytes(digest)] = chars
        _measure(sizes, bytes(digest), chars, lengths)
    for block, first in changed:
        if first.body in chars_of:
            yield block._replace(digest=first.body, chars=chars_of[first.body], tokens=first.tokens or 0)
        else:
            yield block


def _measure(sizes: dict[bytes, TextSizes], digest: bytes, chars: int, lengths: list[int | None]) -> None:
    if lengths[0] is not None:
        sizes[digest] = TextSizes(chars=chars, **dict(zip(SIZE_COLUMNS, lengths, strict=True)))  # type: ignore[arg-type]  # measured


def _texts(digests: Collection[bytes]) -> dict[bytes, str]:
    """The stored texts of these bodies."""
    wanted, texts = list(digests), dict[bytes, str]()
    for start in range(0, len(wanted), TEXTS_AT_ONCE):
        rows = Body.objects.filter(digest__in=wanted[start : start + TEXTS_AT_ONCE]).values_list("digest", "text")
        texts.update((bytes(digest), text) for digest, text in rows)
    return texts


def counter_of(encoding: str) -> Callable[[str], int]:
    """Exact counts of new texts under an encoding."""

    def count(text: str) -> int:
        (figure,) = bpe.count_batch([text], encoding, fast=agrees(encoding))
        return figure.tokens

    return count
