"""The fold: a lane's events become spans (what was visible when) and a ledger (which edit took what).

Everything here is linear in blocks and edits. Sizes are estimates (≈ prompt tokens) on one scale, so for each compaction
before − removed + added = after. Calls are numbered from 1; a span covers the calls n with from_call ≤ n < to_call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count, groupby
from operator import attrgetter
from typing import Literal

from compaction.edits import LedgerEntry
from compaction.errors import TranscriptError
from compaction.live import Batch, LiveView, Sizes, Stretch
from compaction.messages import BlockId, BlockKind, BlockState, Body, Message
from compaction.protocol import ViewWatch
from compaction.transcript import (
    NO_COMPACTIONS,
    Appended,
    Called,
    Compaction,
    Edited,
    Event,
    Finding,
    Mechanism,
    ModelCall,
    Noted,
    Shown,
    Verb,
)

__all__ = ["BlockLife", "CallSize", "Fate", "FoldedCompaction", "History", "LedgerEntry", "Sizes", "Span", "fate_of", "fold", "view_at"]


End = Literal["visible", "never_sent"] | Verb

BEFORE_SENDING: frozenset[Mechanism] = frozenset({"spill", "truncate_output"})
"""Mechanisms that may shorten a result before any call sees it; that is how it was sent, and no compaction of the view."""


INHERITED = "inherited"
"""Flag of a compaction that was copied from another session: it is applied here and counts there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A block in one state, visible in the calls from `from_call` to before `to_call` (None: still visible).

    `position` sorts a view. `body` is the content in this state, None where the source does not tell it.
    """

    block: BlockId
    kind: BlockKind
    state: BlockState
    from_call: int
    to_call: int | None
    position: float
    estimate: int
    body: Body | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedCompaction:
    """A compaction with what it did to the estimates. `ordinal` counts all groups of edits of the lane from 1.

    `index` counts recorded and inferred compactions only (None: the user's own rewind, revert or clear, another request
    header, what was shortened before sending, and what another session did). `compaction` comes without its edits: they
    are the ledger. `before_call` is the first call that saw the result, None if none did. `edits` counts the ledger entries
    that are not additions, `never_sent` those of them whose block no call had seen.
    """

    ordinal: int
    index: int | None
    compaction: Compaction
    before_call: int | None
    estimate_before: int
    removed: int
    added: int
    estimate_after: int
    edits: int
    never_sent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSize:
    """The view of call `n`: its estimate, its blocks, and its estimate by kind in the order of BLOCK_KINDS.

    `entered` and `removed` lead from the estimate of the call before it in file order to this one.
    """

    n: int
    estimate: int
    blocks: int
    kinds: tuple[int, ...]
    entered: int
    removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLife:
    """First and last call that saw a block (None: none did), and how it ended."""

    first_call: int | None
    last_call: int | None
    end: End


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """The life of one block: its spans, its ledger entries, its end, and the blocks that came in its place."""

    block: BlockId
    life: BlockLife
    spans: tuple[Span, ...]
    entries: tuple[LedgerEntry, ...]
    carried_by: tuple[BlockId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """All compactions over one lane. `spans` are sorted by block, then call. `waiting` blocks are visible at the end,
    but no call has seen them in this place and state yet."""

    spans: tuple[Span, ...]
    ledger: tuple[LedgerEntry, ...]
    compactions: tuple[FoldedCompaction, ...]
    sizes: tuple[CallSize, ...]
    calls: tuple[ModelCall, ...]
    findings: tuple[Finding, ...]
    waiting: tuple[BlockId, ...]

    def lives(self) -> Iterator[tuple[BlockId, BlockLife]]:
        """The life of each block that was ever shown; all others were never sent."""
        ends: dict[BlockId, End] = {entry.block: entry.verb for entry in self.ledger if not entry.adds and entry.state_after is None}
        ends.update((block, "visible") for block in self.waiting)
        for block, spans in groupby(self.spans, key=_block_of):
            yield block, _life(tuple(spans), ends.pop(block, "visible"), len(self.calls))
        for block, end in ends.items():
            yield block, BlockLife(first_call=None, last_call=None, end="visible" if end == "visible" else "never_sent")


def fold(events: Iterable[Event], sizes: Sizes, *, on_message: Callable[[Message], None] | None = None) -> History:
    """Fold the events of one lane. `on_message` is given each logged message, texts included; the fold keeps none.

    Raises TranscriptError where the events break their own rules. What the *source* broke becomes a finding.
    """
    folding = _Fold(sizes, on_message)
    for event in events:
        folding.take(event)
    return folding.history()


def view_at(history: History, n: int) -> list[Span]:
    """What call n was sent, in order: a plain filter of the spans."""
    return sorted((span for span in history.spans if span.from_call <= n and (span.to_call is None or n < span.to_call)), key=_position_of)


def fate_of(history: History, block: BlockId) -> Fate:
    """The life of one block; raises TranscriptError if the history never showed or edited it."""
    life = next((life for known, life in history.lives() if known == block), None)
    if life is None:
        raise TranscriptError(f"block {block} was never part of a view in this history")
    entries = tuple(entry for entry in history.ledger if entry.block == block)
    took = {entry.compaction for entry in entries if entry.verb in ("summarise", "replace") and not entry.adds}
    return Fate(
        block=block,
        life=life,
        spans=tuple(span for span in history.spans if span.block == block),
        entries=entries,
        carried_by=tuple(entry.block for entry in history.ledger if entry.adds and entry.compaction in took),
    )


class _Fold:
    """One pass over the events. It holds the live view, and the rows that are finished."""

    def __init__(self, sizes: Sizes, on_message: Callable[[Message], None] | None) -> None:
        self._view = LiveView(sizes)
        self._watch = ViewWatch(self._view)
        self._on_message = on_message
        self._last_seq = 0
        self._calls: list[ModelCall] = []
        self._sizes: list[CallSize] = []
        self._ledger: list[LedgerEntry] = []
        self._compactions: list[FoldedCompaction] = []
        self._unseen: list[int] = []
        self._indexes = count(1)
        self._findings: list[Finding] = []

    def take(self, event: Event) -> None:
        match event:
            case Appended(message=message):
                self._append(message)
            case Shown(seqs=seqs):
                self._show(seqs)
            case Edited():
                self._edit(event)
            case Called(call=call):
                self._call(call)
            case Noted(finding=finding):
                self._findings.append(finding)

    def history(self) -> History:
        waiting = tuple(placed.block.id for placed in self._view if placed.since >= self._view.now)
        return History(
            spans=tuple(sorted(map(_span, self._view.stretches()), key=_block_then_call)),
            ledger=tuple(self._ledger),
            compactions=tuple(self._compactions),
            sizes=tuple(self._sizes),
            calls=tuple(self._calls),
            findings=tuple(self._findings),
            waiting=waiting,
        )

    def _append(self, message: Message) -> None:
        if message.seq != self._last_seq + 1:
            raise TranscriptError(
                f"message {message.seq} (line {message.line}) follows message {self._last_seq}: seq must be dense, from 1"
            )
        if [block.id for block in message.blocks] != [BlockId(message.seq, i) for i in range(1, len(message.blocks) + 1)]:
            raise TranscriptError(
                f"the blocks of message {message.seq} (line {message.line}) are not numbered {message.seq}.1, {message.seq}.2, …"
            )
        self._last_seq = message.seq
        self._view.append(message)
        if self._on_message is not None:
            self._on_message(message)

    def _show(self, seqs: tuple[int, ...]) -> None:
        for seq in self._view.show(seqs):
            self._findings.append(Finding(code="shown_twice", seq=seq, detail=f"message {seq} was in the view already"))

    def _edit(self, event: Edited) -> None:
        compaction, ordinal = event.compaction, len(self._compactions) + 1
        if event.base is None:
            batch = self._view.apply(compaction.edits, compaction=ordinal)
            self._unseen.append(ordinal)
        else:
            batch = self._view.apply_beside(event.base, compaction.edits, compaction=ordinal)
        if batch.missing:
            detail = f"{len(batch.missing)} blocks, the first is {batch.missing[0]}"
            self._findings.append(Finding(code="edit_of_absent_block", line=compaction.line, seq=batch.missing[0].seq, detail=detail))
        self._ledger.extend(batch.entries)
        self._compactions.append(_folded(compaction, ordinal, batch, self._indexes))

    def _call(self, call: ModelCall) -> None:
        if call.n != self._view.now:
            raise TranscriptError(
                f"call {call.n} (line {call.line}) follows call {self._view.now - 1}: calls are numbered from 1 in file order"
            )
        self._findings.extend(self._watch.findings())
        self._view.now = call.n + 1
        self._calls.append(call)
        self._sizes.append(self._size(call.n))
        for ordinal in self._unseen:
            self._compactions[ordinal - 1] = replace(self._compactions[ordinal - 1], before_call=call.n)
        self._unseen.clear()

    def _size(self, n: int) -> CallSize:
        view = self._view
        entered, removed = view.entered, view.removed
        view.entered = view.removed = 0
        return CallSize(n=n, estimate=view.total, blocks=view.blocks, kinds=tuple(view.kinds), entered=entered, removed=removed)


def _folded(compaction: Compaction, ordinal: int, batch: Batch, indexes: Iterator[int]) -> FoldedCompaction:
    never_sent = sum(entry.never_sent for entry in batch.entries)
    edits = sum(not entry.adds for entry in batch.entries)
    before_sending = compaction.mechanism in BEFORE_SENDING and edits == never_sent
    return FoldedCompaction(
        ordinal=ordinal,
        index=None if before_sending or compaction.mechanism in NO_COMPACTIONS or INHERITED in compaction.flags else next(indexes),
        compaction=replace(compaction, edits=()),
        before_call=None,
        estimate_before=batch.before,
        removed=batch.removed,
        added=batch.added,
        estimate_after=batch.after,
        edits=edits,
        never_sent=never_sent,
    )


def _span(stretch: Stretch) -> Span:
    placed = stretch.placed
    return Span(
        block=placed.block.id,
        kind=placed.block.kind,
        state=stretch.state,
        from_call=stretch.since,
        to_call=stretch.until,
        position=placed.position,
        estimate=stretch.tokens,
        body=stretch.body,
    )


def _life(spans: tuple[Span, ...], end: End, calls: int) -> BlockLife:
    to_call = spans[-1].to_call
    if to_call is None:
        return BlockLife(first_call=spans[0].from_call, last_call=calls, end="visible")
    return BlockLife(first_call=spans[0].from_call, last_call=to_call - 1, end=end)


_block_of = attrgetter("block")
_position_of = attrgetter("position")
_block_then_call = attrgetter("block", "from_call")
