"""The text of a checkpoint, and the blocks that it stands for as they were visible when it was made."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import QuerySet

from compaction.messages import Block as LoggedBlock
from compaction.messages import BlockId, Body
from compaction.summarizers.quotes import Piece
from ctxweb.checkpoints.base import Checkpoint
from ctxweb.models import Block, History, LedgerEntry, Message, Revision, Span, Summary
from ctxweb.models import Body as StoredBody

TEXTS_AT_ONCE = 500
SEQS_AT_ONCE = 5_000  # of a query: SQLite takes 32,766 variables, PostgreSQL plans long lists slowly


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeText:
    """The pieces of a range in the order of the file; `calls` are the first calls that held them. `tokens`: exact, of the blocks as
    logged, None where one was not counted. `left_out` of the oldest blocks were too much to be read."""

    pieces: tuple[Piece, ...]
    calls: dict[BlockId, int | None]
    tokens: int | None
    left_out: int


def checkpoint_text(checkpoint: Checkpoint) -> str:
    """What the checkpoint says; empty where a provider keeps it to itself."""
    texts = _texts(bytes.fromhex(digest) for digest in checkpoint.bodies)
    return "\n\n".join(texts.get(bytes.fromhex(digest), "") for digest in checkpoint.bodies)


def checkpoint_range(*, history: History, checkpoint: Checkpoint) -> RangeText:
    """What the checkpoint stands for, the newest blocks first up to CTXWEB_CHECKPOINT_CHARS. `history`: the recorded one."""
    revision = history.revision
    places = _places(history, checkpoint)
    rows = _rows(revision, places, _changed(history, checkpoint, places))
    kept = _bounded(rows)
    texts = _texts(row.digest for row in kept)
    tokens = [row.tokens for row in rows]
    return RangeText(
        pieces=tuple(_piece(row, texts.get(row.digest, "")) for row in kept),
        calls={row.place: row.call for row in kept},
        tokens=None if None in tokens else sum(count or 0 for count in tokens),
        left_out=len(rows) - len(kept),
    )


class _Row(NamedTuple):
    place: BlockId
    kind: str
    role: str
    origin: str
    digest: bytes
    chars: int
    tokens: int | None
    call: int | None
    tool_id: str
    tool_name: str
    path: str
    is_error: bool


def _places(history: History, checkpoint: Checkpoint) -> list[BlockId]:
    if checkpoint.origin == "made":
        blocks = Summary.objects.values_list("blocks", flat=True).get(public_id=checkpoint.summary)
        return [BlockId(int(seq), int(i)) for seq, _, i in (place.partition(".") for place in blocks)]
    return [BlockId(seq, i) for seq, i in _taken(history, checkpoint).order_by("seq", "i").values_list("seq", "i")]


def _taken(history: History, checkpoint: Checkpoint) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(history=history, compaction__ordinal=checkpoint.compaction or 0, adds=False, state_after="")


def _changed(history: History, checkpoint: Checkpoint, places: Sequence[BlockId]) -> dict[BlockId, bytes]:
    """The texts of blocks that an edit had shortened before the checkpoint was made; b"" where the source does not tell it."""
    if checkpoint.origin == "made":
        at = checkpoint.to_call or 0
        spans = Span.objects.filter(history=history, from_call__lte=at, to_call__gt=at).exclude(state="whole")
        wanted = set(places)
        found = {BlockId(seq, i): bytes(body or b"") for seq, i, body in spans.values_list("seq", "i", "body")}
        return {place: digest for place, digest in found.items() if place in wanted}
    shortened = {BlockId(seq, i) for seq, i in _taken(history, checkpoint).exclude(state_before="whole").values_list("seq", "i")}
    found = {}
    for seqs in _batches({place.seq for place in shortened}, SEQS_AT_ONCE):
        edits = LedgerEntry.objects.filter(
            history=history, seq__in=seqs, compaction__ordinal__lt=checkpoint.compaction or 0, adds=False
        ).exclude(state_after="")
        for seq, i, body in edits.order_by("ordinal").values_list("seq", "i", "body_after"):
            found[BlockId(seq, i)] = bytes(body or b"")
    return {place: digest for place, digest in found.items() if place in shortened}


def _rows(revision: Revision, places: Sequence[BlockId], changed: dict[BlockId, bytes]) -> list[_Row]:
    wanted, found = set(places), dict[BlockId, _Row]()
    for seqs in _batches({place.seq for place in places}, SEQS_AT_ONCE):
        spoken = {
            seq: (role, origin)
            for seq, role, origin in Message.objects.filter(revision=revision, seq__in=seqs).values_list("seq", "role", "origin")
        }
        columns = ("seq", "i", "kind", "body__digest", "chars", "tokens", "first_call", "tool_id", "tool_name", "path", "is_error")
        for seq, i, kind, digest, chars, tokens, *rest in Block.objects.filter(revision=revision, seq__in=seqs).values_list(*columns):
            place = BlockId(seq, i)
            if place in wanted:
                found[place] = _Row(place, kind, *spoken[seq], changed.get(place, bytes(digest)), chars, tokens, *rest)
    return [found[place] for place in sorted(found)]


def _bounded(rows: Sequence[_Row]) -> Sequence[_Row]:
    room = int(settings.CTXWEB_CHECKPOINT_CHARS)
    for place in range(len(rows) - 1, -1, -1):
        room -= rows[place].chars
        if room < 0:
            return rows[place + 1 :]
    return rows


def _piece(row: _Row, text: str) -> Piece:
    block = LoggedBlock(
        id=row.place,
        kind=row.kind,  # type: ignore[arg-type]  # the column holds a BlockKind
        body=Body(digest=row.digest, chars=len(text)),
        tool_id=row.tool_id or None,
        tool_name=row.tool_name or None,
        path=row.path or None,
        is_error=row.is_error,
    )
    return Piece(row.role, row.origin, block, text)  # type: ignore[arg-type]  # the columns hold a Role and an Origin


def _texts(digests: Iterable[bytes]) -> dict[bytes, str]:
    texts: dict[bytes, str] = {}
    for wanted in _batches(set(digests) - {b""}, TEXTS_AT_ONCE):
        texts.update((bytes(digest), text) for digest, text in StoredBody.objects.filter(digest__in=wanted).values_list("digest", "text"))
    return texts


def _batches(values: Collection[Any], size: int) -> Iterator[list[Any]]:
    listed = list(values)
    for start in range(0, len(listed), size):
        yield listed[start : start + size]
