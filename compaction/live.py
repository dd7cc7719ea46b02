"""The one place where the view of a recorded lane changes.

`LiveView` is the changing view of a lane. The fold drives it with the edits that a source recorded, or that a replay planned,
so both leave the same ledger. A batch costs O(its blocks).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from compaction.edits import LedgerEntry, is_state_edit
from compaction.errors import TranscriptError
from compaction.messages import BLOCK_KINDS, Block, BlockId, BlockState, Body, Message
from compaction.order import Order, Placed, by_position
from compaction.transcript import Edit

KIND_INDEX = {kind: index for index, kind in enumerate(BLOCK_KINDS)}


class Sizes(Protocol):
    """What a block costs in a prompt, in estimated tokens (≈)."""

    def whole(self, message: Message, block: Block) -> int:
        """The block as it was logged."""
        ...

    def edited(self, block: Block, edit: Edit) -> int:
        """The block in the state that `edit` gives it."""
        ...


class Stretch(NamedTuple):
    """A place and state that the calls from `since` to before `until` saw; `until` None while it is visible."""

    placed: Placed
    state: BlockState
    body: Body | None
    tokens: int
    since: int
    until: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One applied batch, in estimated tokens: `before` − `removed` + `added` = `after`.

    `missing` are the targets that the view did not hold; a recorded batch skips them.
    """

    entries: tuple[LedgerEntry, ...]
    before: int
    removed: int
    added: int
    after: int
    missing: tuple[BlockId, ...] = ()


class LiveView:
    """The view of a lane while it changes. `now` is the number of the next call; the fold moves it on.

    `kinds` are the tokens of the view by block kind; `entered` and `removed` add up its changes. `tools` are the
    visible places by tool id, `changed_tools` and `seams` say what to look at again for findings.
    """

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._messages: dict[int, tuple[Placed, ...]] = {}
        self._order = Order()
        self.now = 1
        self.total = 0
        self.blocks = 0
        self.kinds = [0] * len(BLOCK_KINDS)
        self.entered = 0
        self.removed = 0
        self._states: list[Stretch] = []
        self.tools: dict[str, list[Placed]] = {}
        self.changed_tools: set[str] = set()
        self.seams: list[Placed] = []

    def __iter__(self) -> Iterator[Placed]:
        return iter(self._order)

    def __contains__(self, block: BlockId) -> bool:
        placed = self.find(block)
        return placed is not None and placed.visible

    def append(self, message: Message) -> None:
        """Log a message; it does not enter the view by itself."""
        self._messages[message.seq] = tuple(
            Placed(_without_text(block), self._sizes.whole(message, block), message.role, message.line) for block in message.blocks
        )

    def find(self, block: BlockId) -> Placed | None:
        """The block, visible or not; None where no message with it was logged."""
        row = self._messages.get(block.seq, ())
        return row[block.i - 1] if 0 < block.i <= len(row) else None

    def show(self, seqs: Iterable[int]) -> tuple[int, ...]:
        """Let logged messages enter at the end; return those that were there already and stay where they are."""
        known = []
        for seq in seqs:
            arriving = self._arriving(seq)
            if not arriving and self._row(seq):
                known.append(seq)
            for placed in arriving:
                self._enter(placed, self._order.tail)
        return tuple(known)

    def place(self, blocks: Iterable[tuple[BlockId, BlockState, Body | None, int]]) -> None:
        """Put logged blocks at the end, each in a given state with its content and estimate: a view taken up again."""
        for block, state, body, tokens in blocks:
            placed = self.find(block)
            if placed is None:
                raise TranscriptError(f"block {block} enters the view but was never logged: append its message first")
            placed.state, placed.body, placed.tokens = state, body, tokens
            self._enter(placed, self._order.tail)

    def apply(self, edits: Sequence[Edit], *, compaction: int = 1) -> Batch:
        """Apply the edits of one compaction as one batch and return what they did."""
        before, entries, missing = self.total, list[LedgerEntry](), list[BlockId]()
        for edit in edits:
            if is_state_edit(edit):
                self._apply_state(edit, compaction, entries, missing)
            else:
                self._apply_range(edit, compaction, entries, missing)
        changes = [entry.tokens_after - entry.tokens_before for entry in entries]
        removed, added = -sum(change for change in changes if change < 0), sum(change for change in changes if change > 0)
        return Batch(entries=tuple(entries), before=before, removed=removed, added=added, after=self.total, missing=tuple(missing))

    def apply_beside(self, base: Sequence[BlockId], edits: Sequence[Edit], *, compaction: int = 1) -> Batch:
        """Book a batch against the blocks `base` of another branch; this view stays as it is.

        A state that it gives to a block that is not visible here is kept, so that the block comes back in it.
        """
        branch = LiveView(self._sizes)
        branch.now = self.now
        for seq in {block.seq for block in base}.union(*(edit.puts for edit in edits)):
            branch._messages[seq] = tuple(self._beside(placed) for placed in self._row(seq))
        for block in base:
            placed = branch.find(block)
            if placed is None:
                raise TranscriptError(f"the base of a detached compaction names block {block}, which was never logged")
            branch._enter(placed, branch._order.tail)
        batch = branch.apply(edits, compaction=compaction)
        for edit in edits:
            self._remember(edit)
        return batch

    def stretches(self) -> Iterator[Stretch]:
        """All places and states that a call saw, in no order. The view is given up piece by piece: it ends with this."""
        self._messages.clear()
        while self._states:
            yield self._states.pop()
        while self._order.places:
            placed = self._order.places.pop()
            if placed.since < (placed.until or self.now):
                yield Stretch(placed, placed.state, placed.body, placed.tokens, placed.since, placed.until)

    def _row(self, seq: int) -> tuple[Placed, ...]:
        row = self._messages.get(seq)
        if row is None:
            raise TranscriptError(f"message {seq} enters the view but was never logged: append it first")
        return row

    def _arriving(self, seq: int) -> list[Placed]:
        """The blocks of a message that are not in the view, at new places where they stood somewhere before."""
        row = self._messages[seq] = tuple(_at_new_place(placed) for placed in self._row(seq))
        return [placed for placed in row if not placed.visible]

    def _beside(self, placed: Placed) -> Placed:
        copy = placed.again()
        copy.sent = not self._never_sent(placed)
        return copy

    def _remember(self, edit: Edit) -> None:
        placed = self.find(edit.block) if edit.block is not None else None
        if placed is not None and not placed.visible:
            fresh = _at_new_place(placed)
            self._give_state(fresh, edit)
            seq = placed.block.id.seq
            self._messages[seq] = tuple(fresh if other is placed else other for other in self._messages[seq])

    def _give_state(self, placed: Placed, edit: Edit) -> None:
        placed.tokens = self._sizes.edited(placed.block, edit)
        placed.state = edit.state or placed.state
        placed.body = None if edit.body is None else edit.body.without_text()

    def _apply_state(self, edit: Edit, compaction: int, entries: list[LedgerEntry], missing: list[BlockId]) -> None:
        placed = self.find(edit.block) if edit.block is not None else None
        if placed is None or not placed.visible:
            self._remember(edit)
            missing.extend(() if edit.block is None else (edit.block,))
            return
        state, tokens, never_sent = placed.state, placed.tokens, self._never_sent(placed)
        if placed.since < self.now:
            self._states.append(Stretch(placed, state, placed.body, tokens, placed.since, self.now))
            placed.sent = True
        self._give_state(placed, edit)
        placed.since = self.now
        self._count(placed, placed.tokens - tokens)
        entries.append(
            LedgerEntry(
                compaction=compaction,
                verb=edit.verb,
                block=placed.block.id,
                state_before=state,
                state_after=placed.state,
                tokens_before=tokens,
                tokens_after=placed.tokens,
                never_sent=never_sent,
                body_after=placed.body,
                layer=edit.layer,
            )
        )

    def _apply_range(self, edit: Edit, compaction: int, entries: list[LedgerEntry], missing: list[BlockId]) -> None:
        after, mark = self._gap(edit)
        for block in edit.takes:
            placed = self.find(block)
            if placed is None or not placed.visible:
                missing.append(block)
                continue
            if placed is after:
                after = placed.behind
            entries.append(
                LedgerEntry(
                    compaction=compaction,
                    verb=edit.verb,
                    block=placed.block.id,
                    state_before=placed.state,
                    tokens_before=placed.tokens,
                    never_sent=self._never_sent(placed),
                    layer=edit.layer,
                )
            )
            self._leave(placed)
        self._put(edit, after, mark, compaction, entries)

    def _put(self, edit: Edit, after: Placed | None, mark: Placed | None, compaction: int, entries: list[LedgerEntry]) -> None:
        arriving = [placed for seq in edit.puts for placed in self._arriving(seq)]
        for index, placed in enumerate(arriving):
            self._enter(placed, after, mark, len(arriving) - index)
            after = placed
            entries.append(
                LedgerEntry(
                    compaction=compaction,
                    verb=edit.verb,
                    block=placed.block.id,
                    adds=True,
                    state_after=placed.state,
                    tokens_after=placed.tokens,
                    layer=edit.layer,
                )
            )

    def _gap(self, edit: Edit) -> tuple[Placed | None, Placed | None]:
        """Where the messages of an edit go: the block before them (None: first), and the first block that they replace."""
        anchor = self.find(edit.after) if edit.after is not None else None
        if anchor is not None and anchor.visible:
            return anchor, None
        taken = [placed for placed in map(self.find, edit.takes) if placed is not None and placed.visible] if edit.puts else []
        if not taken:
            return self._order.tail, None
        first = min(taken, key=by_position)
        return first.behind, first

    def _enter(self, placed: Placed, after: Placed | None, mark: Placed | None = None, share: int = 1) -> None:
        self._order.link(placed, after, mark, share)
        placed.since = self.now
        self.seams.append(placed)
        self.blocks += 1
        self._count(placed, placed.tokens)
        self._changed(placed.ahead, placed.block.tool_id)
        if placed.block.tool_id is not None:
            self.tools.setdefault(placed.block.tool_id, []).append(placed)

    def _leave(self, placed: Placed) -> None:
        placed.sent = not self._never_sent(placed)
        placed.until = self.now
        follower = placed.ahead
        self._order.unlink(placed)
        self.blocks -= 1
        self._count(placed, -placed.tokens)
        self._changed(follower, placed.block.tool_id)
        if placed.block.tool_id is not None:
            places = self.tools[placed.block.tool_id]
            places.remove(placed)
            if not places:
                del self.tools[placed.block.tool_id]

    def _changed(self, follower: Placed | None, tool_id: str | None) -> None:
        if follower is not None:
            self.seams.append(follower)
        if tool_id is not None:
            self.changed_tools.add(tool_id)

    def _never_sent(self, placed: Placed) -> bool:
        return not placed.sent and not (placed.visible and placed.since < self.now)

    def _count(self, placed: Placed, change: int) -> None:
        self.total += change
        self.kinds[KIND_INDEX[placed.block.kind]] += change
        if change > 0:
            self.entered += change
        else:
            self.removed -= change


def _at_new_place(placed: Placed) -> Placed:
    """The place itself where it is visible or was never used: what a call saw there must stay as it was."""
    return placed if placed.visible or not placed.position else placed.again()


def _without_text(block: Block) -> Block:
    return block if block.body.text is None else replace(block, body=block.body.without_text())
