"""What the prompt of another call held and this one does not, with the edit that took it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxweb.models import Block, LedgerEntry, Message, Span
from ctxweb.queries.blocks import lane_messages
from ctxweb.queries.difference import Gone, difference
from ctxweb.queries.readable import Lane
from ctxweb.queries.view import ViewBlock, logged_blocks, state_excerpts, view_block

LARGEST = 20
OWN_TEXTS = 60  # what the user wrote is shown whatever its size, up to so many blocks: the page stays bounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Taker:
    """The edit that took a block out of the view, and its compaction."""

    action: str
    layer: str
    compaction: int
    index: int | None
    origin: str
    mechanism: str
    before_call: int | None
    never_sent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ghost:
    """A block that left. `taker` is None where no edit took it; `reason` then says why it is not there."""

    block: ViewBlock
    taker: Taker | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GhostWindow:
    """Ghosts in the order of the other prompt: `total` of them, of `total_tokens`; those shown sum to `shown_tokens`."""

    total: int
    total_tokens: int
    shown_tokens: int
    ghosts: tuple[Ghost, ...]
    next: str | None


def largest_ghosts(*, lane: Lane, n: int, against: int) -> GhostWindow:
    """The `LARGEST` blocks of call `against` that call `n` does not hold, and those that the user wrote."""
    left = difference(lane=lane, n=n, against=against).left
    by_size = sorted(left, key=lambda gone: -gone.estimate)
    written = _written_by_user(lane, by_size)
    shown = {*by_size[:LARGEST], *written[:OWN_TEXTS]}
    return _window(lane, left, [gone for gone in left if gone in shown], n, against, following=None)


def _written_by_user(lane: Lane, left: Sequence[Gone]) -> list[Gone]:
    """Those of `left` that are the user's own text, in its order."""
    messages = Message.objects.filter(revision=lane.revision, role="user", origin="human")
    texts = Block.objects.filter(revision=lane.revision, kind="text", seq__in=messages.values("seq"))
    places = set(texts.values_list("seq", "i")) if left else set()
    return [gone for gone in left if (gone.seq, gone.i) in places]


def ghost_window(*, lane: Lane, n: int, against: int, after: float | None, limit: int) -> GhostWindow:
    """The first `limit` of them behind the position `after`."""
    left = difference(lane=lane, n=n, against=against).left
    behind = [gone for gone in left if after is None or gone.position > after]
    following = behind[limit - 1].position if len(behind) > limit else None
    return _window(lane, left, behind[:limit], n, against, following=following)


def _window(lane: Lane, left: Sequence[Gone], shown: Sequence[Gone], n: int, against: int, *, following: float | None) -> GhostWindow:
    spans = list(Span.objects.filter(pk__in=[gone.pk for gone in shown]).order_by("position", "pk"))
    return GhostWindow(
        total=len(left),
        total_tokens=sum(gone.estimate for gone in left),
        shown_tokens=sum(gone.estimate for gone in shown),
        ghosts=_ghosts(lane, spans, n, against),
        next=repr(following) if following is not None else None,
    )


def _ghosts(lane: Lane, spans: Sequence[Span], n: int, against: int) -> tuple[Ghost, ...]:
    logged = logged_blocks(lane, spans)
    messages = lane_messages(lane=lane, seqs={span.seq for span in spans})
    texts = state_excerpts(spans, logged)
    takers = _takers(lane, spans, n, against)
    return tuple(
        Ghost(
            block=view_block(
                span, logged[span.seq, span.i], messages[span.seq], size=0, since="left", text=texts.get(bytes(span.body or b""))
            ),
            taker=takers.get((span.seq, span.i)),
            reason=_reason(span, takers, n, against),
        )
        for span in spans
    )


def _reason(span: Span, takers: dict[tuple[int, int], Taker], n: int, against: int) -> str:
    if (span.seq, span.i) in takers:
        return "edit"
    return "logged_later" if n < against else "other_branch"


def _takers(lane: Lane, spans: Sequence[Span], n: int, against: int) -> dict[tuple[int, int], Taker]:
    """The last edit between the two calls that took each block."""
    places = {(span.seq, span.i) for span in spans}
    entries = (
        LedgerEntry.objects.filter(history=lane.history, seq__in={seq for seq, _ in places}, adds=False)
        .filter(compaction__before_call__gt=against, compaction__before_call__lte=n, compaction__detached=False)
        .select_related("compaction")
        .order_by("ordinal")
    )
    return {(entry.seq, entry.i): _taker(entry) for entry in entries if (entry.seq, entry.i) in places and not entry.state_after}


def _taker(entry: LedgerEntry) -> Taker:
    compaction = entry.compaction
    return Taker(
        action=entry.verb,
        layer=entry.layer,
        compaction=compaction.ordinal,
        index=compaction.index,
        origin=compaction.origin,
        mechanism=compaction.mechanism,
        before_call=compaction.before_call,
        never_sent=entry.never_sent,
    )
