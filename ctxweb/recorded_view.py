"""What a call of a stored session was sent, as the frozen view that plans are made over, with its texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from django.db.models import Min

from compaction.counters.sizes import TextSizes
from compaction.counters.units import unit_named
from compaction.messages import Block as LoggedBlock
from compaction.messages import BlockId, Body, Origin, Role
from compaction.pricing import Pricer
from compaction.prompt import ViewMessage, shape_of, view_message, visible_block
from compaction.replay.rendered import block_of
from compaction.replay.rows import BlockRow
from compaction.view import PromptView
from ctxweb.models import Block, History, Message, Session, Span
from ctxweb.models import Body as StoredBody
from ctxweb.replays.lane import SIZE_COLUMNS, counter_of

UNIT = "exact"
READ_AT_ONCE = 500


class Spoken(NamedTuple):
    """A logged message as it stands in the file: who said it, and the first of the `records` records that hold it (0: none)."""

    role: Role
    origin: Origin
    record: int
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedView:
    """What call `call` was sent. `entered`: the call with which each block came first; `spoken`: its logged messages by seq.

    `sha256` is over places, states and texts of all of it, in order: a view with the same digest is the same, byte for byte.
    """

    call: int
    view: PromptView
    entered: Mapping[BlockId, int]
    spoken: Mapping[int, Spoken]
    sha256: str


class _Shown(NamedTuple):
    """A block as a span shows it."""

    row: BlockRow
    body: Body
    tokens: int


def recorded_view(*, session: Session, history: History, call: int) -> RecordedView:
    """The view of the recorded `history` at `call`. A block whose text the file does not tell in that state stands with none."""
    spans = list(Span.objects.filter(history=history, from_call__lte=call, to_call__gt=call).order_by("position", "pk"))
    seqs = sorted({span.seq for span in spans})
    spoken = _spoken(history, seqs)
    bodies = _bodies({bytes(span.body) for span in spans if span.body is not None})
    shown = _shown(history, spans, seqs, bodies)
    pricer = Pricer(
        unit_named(UNIT),
        texts={digest: found.text for digest, found in bodies.items()},
        counts={each.body.digest: each.tokens for each in shown},
        sizes={digest: found.sizes for digest, found in bodies.items() if found.sizes is not None},
        count=counter_of(session.encoding),
    )
    return RecordedView(
        call=call,
        view=PromptView.holding(list(_messages(shown, spoken, pricer)), pricer, next_seq=session.message_count + 1),
        entered=_entered(history, seqs),
        spoken=spoken,
        sha256=_digest(shown, spoken),
    )


class _Text(NamedTuple):
    text: str
    chars: int
    sizes: TextSizes | None


def _bodies(digests: Iterable[bytes]) -> dict[bytes, _Text]:
    found: dict[bytes, _Text] = {}
    wanted = list(digests)
    for start in range(0, len(wanted), READ_AT_ONCE):
        rows = StoredBody.objects.filter(digest__in=wanted[start : start + READ_AT_ONCE])
        for digest, text, chars, *lengths in rows.values_list("digest", "text", "chars", *SIZE_COLUMNS):
            measured = None if lengths[0] is None else TextSizes(chars=chars, **dict(zip(SIZE_COLUMNS, lengths, strict=True)))
            found[bytes(digest)] = _Text(text, chars, measured)
    return found


def _spoken(history: History, seqs: Sequence[int]) -> dict[int, Spoken]:
    names = ("seq", "role", "origin", "record", "records")
    rows = Message.objects.filter(revision=history.revision_id, seq__in=seqs).values_list(*names)
    return {seq: Spoken("user" if role == "tool" else role, origin, record, records) for seq, role, origin, record, records in rows}


def _shown(history: History, spans: Sequence[Span], seqs: Sequence[int], bodies: Mapping[bytes, _Text]) -> list[_Shown]:
    blocks = {(block.seq, block.i): block for block in Block.objects.filter(revision=history.revision_id, seq__in=seqs)}
    shown = []
    for span in spans:
        digest = None if span.body is None else bytes(span.body)
        known = bodies.get(digest) if digest is not None else None
        body = Body.of("") if digest is None or known is None else Body(digest=digest, chars=known.chars)
        row = _row(blocks[span.seq, span.i], span, body)
        shown.append(_Shown(row, body, 0 if known is None else span.tokens or 0))
    return shown


def _row(block: Block, span: Span, body: Body) -> BlockRow:
    return BlockRow(
        seq=block.seq,
        i=block.i,
        kind=block.kind,  # type: ignore[arg-type]  # the columns hold a BlockKind and a BlockState
        digest=body.digest,
        chars=body.chars,
        tokens=span.tokens or 0,
        state=span.state,  # type: ignore[arg-type]
        tool_id=block.tool_id,
        tool_name=block.tool_name,
        path=block.path,
        is_error=block.is_error,
        signature_chars=block.signature_chars,
        media_bytes=block.media_bytes,
        flags=tuple(block.flags.split(",")) if block.flags else (),
    )


def _messages(shown: Sequence[_Shown], spoken: Mapping[int, Spoken], pricer: Pricer) -> Iterable[ViewMessage]:
    for seq, group in groupby(shown, key=lambda each: each.row.seq):
        parts: list[tuple[LoggedBlock, _Shown]] = [(block_of(each.row, each.row.path), each) for each in group]
        shape = shape_of([block for block, _ in parts])
        blocks = [visible_block(block, pricer, shape, state=each.row.state, body=each.body) for block, each in parts]
        yield view_message(spoken[seq].role, spoken[seq].origin, shape, blocks, pricer)


def _entered(history: History, seqs: Sequence[int]) -> dict[BlockId, int]:
    rows = Span.objects.filter(history=history, seq__in=seqs).order_by().values_list("seq", "i").annotate(first=Min("from_call"))
    return {BlockId(seq, i): first for seq, i, first in rows}


def _digest(shown: Sequence[_Shown], spoken: Mapping[int, Spoken]) -> str:
    digest = hashlib.sha256()
    for row, body, _ in shown:
        told = (row.seq, row.i, spoken[row.seq].role, row.kind, row.state, row.tool_id, row.tool_name, row.is_error, body.digest.hex())
        digest.update(json.dumps(told).encode() + b"\n")
    return digest.hexdigest()
