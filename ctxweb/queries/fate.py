"""The life of one block: when it was visible, which edits changed or took it, and what stands for it now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, Sum
from django.db.models.functions import Substr
from django.http import Http404

from compaction.messages import BlockId
from ctxweb.models import Block, Body, LedgerEntry, ModelCall
from ctxweb.queries.blocks import lane_block, lane_blocks, lane_messages
from ctxweb.queries.body import Preview, body_preview
from ctxweb.queries.lives import LifeSpan, Place, lives
from ctxweb.queries.messages import BlockRow, block_row, prompt_size
from ctxweb.queries.readable import Lane
from ctxweb.text_diff import BUDGET_CHARS, Diff, diff_of

CARRIERS = 20
BEGINNING = BlockId(0, 0)
NEIGHBOURS = 20
FILE_BLOCKS = 400  # of the same file whose lives are drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class FateEdit:
    """One edit of the block, with its compaction. `body_after` is the text of its new state, None where nothing is left.
    Of a replayed one `own_*` are in the policy's unit, `exact_*` exact tokens, and `pointer` leads to a text that was spilled."""

    ordinal: int
    compaction: int
    index: int | None
    before_call: int | None
    at: datetime | None
    line: int
    origin: str
    mechanism: str
    trigger: str
    status: str
    detached: bool
    action: str
    layer: str
    adds: bool
    state_before: str
    state_after: str
    tokens_before: int
    tokens_after: int
    own_before: int | None
    own_after: int | None
    exact_before: int | None
    exact_after: int | None
    pointer: str
    never_sent: bool
    body_after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relative:
    """Another block in the life of this one: a checkpoint that stands for it, or a block of the same file."""

    block: str
    kind: str
    role: str
    origin: str
    tool_name: str
    excerpt: str
    estimate: int | None
    first_call: int | None
    last_call: int | None
    end: str
    compaction: int | None
    life: tuple[LifeSpan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Blocks of the same file: `total` of them, this one included, `tokens` in all."""

    path: str
    total: int
    tokens: int
    blocks: tuple[Relative, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spilled:
    """An earlier result of the same file whose text a replay had left at `pointer` before `call`."""

    block: str
    call: int | None
    pointer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFate:
    """`born` and `last_seen` are the first and the last call that held the block; `sent` is how many did, and `sent_tokens`
    the sum of its estimates over them."""

    block: BlockRow
    born: int | None
    last_seen: int | None
    role: str
    origin: str
    label: str
    line: int
    record: int
    at: datetime | None
    produced_by: int | None
    abandoned: bool
    visible: str
    spans: tuple[LifeSpan, ...]
    edits: tuple[FateEdit, ...]
    carried_by: tuple[Relative, ...]
    sent: int
    sent_tokens: int
    calls: int
    same_file: Neighbours
    reads_spilled: Spilled | None


def block_fate(*, lane: Lane, place: BlockId, after: BlockId = BEGINNING, limit: int | None = None) -> BlockFate:
    """The fate of the block at `place`; the blocks of the same file behind `after`. Raises Http404."""
    block, message = lane_block(lane=lane, place=place), lane_messages(lane=lane, seqs=[place.seq]).get(place.seq)
    if block is None or message is None:
        raise Http404
    first = ModelCall.objects.filter(revision=lane.revision, n=block.first_call or 0).first()
    spans = lives(lane=lane, places=[place]).get(place, ())
    entries = LedgerEntry.objects.filter(history=lane.history, seq=place.seq, i=place.i).select_related("compaction").order_by("ordinal")
    edits = tuple(_edit(entry) for entry in entries)
    lengths = [(span, (span.to_call or lane.session.call_count + 1) - span.from_call) for span in spans]
    return BlockFate(
        block=block_row(block, prompt=None if lane.is_replayed else prompt_size(first), life=spans),
        born=block.first_call,
        last_seen=block.last_call,
        role=message.role,
        origin=message.origin,
        label=message.label,
        line=message.line,
        record=message.record,
        at=message.at,
        produced_by=message.call,
        abandoned=message.abandoned,
        visible=message.visible,
        spans=spans,
        edits=edits,
        carried_by=_carriers(lane, edits),
        sent=sum(length for _, length in lengths),
        sent_tokens=sum(span.estimate * length for span, length in lengths),
        calls=lane.session.call_count,
        same_file=neighbours(lane=lane, path=block.path, after=after, limit=limit or NEIGHBOURS),
        reads_spilled=_reads_spilled(lane, block) if lane.is_replayed and block.path else None,
    )


def _reads_spilled(lane: Lane, block: Block) -> Spilled | None:
    """The last text of the same file that was spilled before this block came."""
    earlier = Block.objects.filter(~Q(path=""), revision=lane.revision, path=block.path, seq=OuterRef("seq"), i=OuterRef("i"))
    entries = LedgerEntry.objects.filter(Exists(earlier), history=lane.history, seq__lt=block.seq).exclude(pointer="")
    came = block.first_call if block.first_call is not None else lane.session.call_count + 1
    entry = entries.filter(compaction__before_call__lte=came).select_related("compaction").order_by("-ordinal").first()
    if entry is None:
        return None
    return Spilled(block=f"{entry.seq}.{entry.i}", call=entry.compaction.before_call, pointer=entry.pointer)


def _edit(entry: LedgerEntry) -> FateEdit:
    compaction = entry.compaction
    return FateEdit(
        ordinal=entry.ordinal,
        compaction=compaction.ordinal,
        index=compaction.index,
        before_call=compaction.before_call,
        at=compaction.at,
        line=compaction.line,
        origin=compaction.origin,
        mechanism=compaction.mechanism,
        trigger=compaction.trigger,
        status=compaction.status,
        detached=compaction.detached,
        action=entry.verb,
        layer=entry.layer,
        adds=entry.adds,
        state_before=entry.state_before,
        state_after=entry.state_after,
        tokens_before=entry.tokens_before,
        tokens_after=entry.tokens_after,
        own_before=entry.own_before,
        own_after=entry.own_after,
        exact_before=entry.exact_before,
        exact_after=entry.exact_after,
        pointer=entry.pointer,
        never_sent=entry.never_sent,
        body_after=bytes(entry.body_after).hex() if entry.body_after else None,
    )


def _carriers(lane: Lane, edits: Sequence[FateEdit]) -> tuple[Relative, ...]:
    """The blocks that the compactions which took this one put in its place."""
    took = {edit.compaction for edit in edits if not edit.adds and not edit.state_after}
    entries = LedgerEntry.objects.filter(history=lane.history, compaction__ordinal__in=took, adds=True, verb__in=("summarise", "replace"))
    put = {(entry.seq, entry.i): entry.compaction.ordinal for entry in entries.select_related("compaction").order_by("ordinal")[:CARRIERS]}
    return _relatives(lane, put)


def _relatives(lane: Lane, places: Mapping[Place, int | None]) -> tuple[Relative, ...]:
    seqs = {seq for seq, _ in places}
    messages = lane_messages(lane=lane, seqs=seqs)
    blocks = sorted(lane_blocks(lane=lane, seqs=seqs).values(), key=lambda block: (block.seq, block.i))
    spans = lives(lane=lane, places=places)
    return tuple(
        Relative(
            block=f"{block.seq}.{block.i}",
            kind=block.kind,
            role=messages[block.seq].role,
            origin=messages[block.seq].origin,
            tool_name=block.tool_name,
            excerpt=block.excerpt,
            estimate=block.estimate,
            first_call=block.first_call,
            last_call=block.last_call,
            end=block.end,
            compaction=places[block.seq, block.i],
            life=spans.get((block.seq, block.i), ()),
        )
        for block in blocks
        if (block.seq, block.i) in places
    )


def neighbours(*, lane: Lane, path: str, after: BlockId, limit: int = NEIGHBOURS) -> Neighbours:
    """The first `limit` blocks of the file `path` behind the place `after`, in file order; none for an empty path."""
    blocks = Block.objects.filter(~Q(path=""), revision=lane.revision, path=path) if path else Block.objects.none()
    behind = blocks.filter(Q(seq__gt=after.seq) | Q(seq=after.seq, i__gt=after.i)).order_by("seq", "i")
    places = list(behind.values_list("seq", "i")[: limit + 1])
    shown = places[:limit]
    return Neighbours(
        path=path,
        total=blocks.count(),
        tokens=blocks.aggregate(tokens=Sum("estimate"))["tokens"] or 0,
        blocks=_relatives(lane, dict.fromkeys(shown)),
        next=f"{shown[-1][0]}.{shown[-1][1]}" if len(places) > limit else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLives:
    """The lives of the blocks of one kind, of the same file; `blocks` of them are drawn."""

    kind: str
    blocks: int
    spans: tuple[LifeSpan, ...]


def file_lives(*, lane: Lane, path: str, without: Place) -> tuple[FileLives, ...]:
    """Of the first `FILE_BLOCKS` other blocks of the file `path`, by kind; none for an empty path."""
    if not path:
        return ()
    rows = Block.objects.filter(~Q(path=""), revision=lane.revision, path=path).order_by("seq", "i").values_list("seq", "i", "kind")
    kinds = {(seq, i): kind for seq, i, kind in rows[: FILE_BLOCKS + 1] if (seq, i) != without}
    spans = lives(lane=lane, places=kinds)
    return tuple(
        FileLives(
            kind=kind,
            blocks=sum(each == kind for each in kinds.values()),
            spans=tuple(span for place, each in kinds.items() if each == kind for span in spans.get(place, ())),
        )
        for kind in ("tool_result", "tool_use")
        if kind in kinds.values()
    )


def edit_diff(*, before: str, after: str, budget: int = BUDGET_CHARS) -> Diff:
    """The difference between two bodies, given by digest, which the caller has found in the session."""
    keys = [bytes.fromhex(before), bytes.fromhex(after)]
    found = Body.objects.filter(digest__in=keys).annotate(head=Substr("text", 1, settings.CTXWEB_DIFF_CHARS)).values_list("digest", "head")
    texts = {bytes(digest): str(head) for digest, head in found}
    old, new = (texts.get(key, "") for key in keys)
    return diff_of(old, new, lines_compared=settings.CTXWEB_DIFF_LINES, budget=budget)


def text_preview(*, digest: str) -> Preview | None:
    """Head and tail of a body, given by digest, which the caller has found in the session."""
    body = Body.objects.filter(digest=bytes.fromhex(digest)).defer("text").first()
    return body_preview(body=body) if body is not None else None
