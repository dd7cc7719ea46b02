"""What a planned batch leaves of the messages that it touches. Only `compaction.planned` calls it.

The blocks of a small batch are looked for from the newest message on: a layer that runs before every call of a long session
changes what has just grown old.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from compaction.errors import EditError
from compaction.messages import BlockId
from compaction.pricing import Pricer
from compaction.prompt import ViewMessage, VisibleBlock, own_raw, visible_block, with_blocks
from compaction.transcript import Edit
from compaction.wire_blocks import with_text

if TYPE_CHECKING:
    from compaction.view import PromptView

FEW = 32
"""So many blocks or messages are looked for, or let go, one by one; more of them in one pass over the view."""


@dataclass(slots=True)
class Changed:
    """What is left of each message, None where nothing is; the places of those that differ, and by how much both sizes do; the
    messages that went whole; ids of tool blocks that went otherwise."""

    after: list[ViewMessage | None]
    touched: list[int] = field(default_factory=list)
    own: int = 0
    tokens: int = 0
    whole: list[ViewMessage] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)

    def take(self, index: int, message: ViewMessage) -> None:
        """Let a message go whole."""
        self.after[index] = None
        self.touched.append(index)
        self.whole.append(message)
        self.own -= message.own
        self.tokens -= message.tokens

    def put(self, index: int, message: ViewMessage, changed: ViewMessage) -> None:
        """What is left of a message stands in its place."""
        self.after[index] = changed
        self.touched.append(index)
        self.own += changed.own - message.own
        self.tokens += changed.tokens - message.tokens

    def left(self) -> tuple[ViewMessage, ...]:
        """All that is left, in order."""
        if not self.whole or len(self.whole) > FEW:
            return tuple([message for message in self.after if message is not None]) if self.whole else _all(self.after)
        left = self.after.copy()
        for index in sorted([index for index in self.touched if left[index] is None], reverse=True):
            del left[index]
        return _all(left)


def _all(messages: Sequence[ViewMessage | None]) -> tuple[ViewMessage, ...]:
    """The messages, of which none is None: one look at each would cost more than the copy."""
    return cast("tuple[ViewMessage, ...]", tuple(messages))


def changed_by(view: PromptView, edits: Sequence[Edit]) -> Changed:
    """What the edits leave. Raises EditError."""
    states = _states(edits)
    changed = _in_order(view, edits[0].takes) if len(edits) == 1 and len(edits[0].takes) > FEW else None
    return changed or _changed(view, _taken(edits, states), states)


def _states(edits: Sequence[Edit]) -> dict[BlockId, Edit]:
    states: dict[BlockId, Edit] = {}
    for edit in edits:
        if edit.block is not None:
            if edit.block in states:
                raise EditError(f"two edits of one batch change block {edit.block}: keep one")
            states[edit.block] = edit
    return states


def _taken(edits: Sequence[Edit], states: dict[BlockId, Edit]) -> frozenset[BlockId]:
    takes = [edit.takes for edit in edits if edit.takes]
    taken: frozenset[BlockId] = frozenset(takes[0]) if len(takes) == 1 else frozenset().union(*takes)
    if len(taken) != sum(map(len, takes)):
        twice = [block for blocks in takes for block in blocks]
        block = next(block for place, block in enumerate(twice) if block in twice[:place])
        raise EditError(f"block {block} is not in the view any more: another edit of this batch took it")
    if not taken.isdisjoint(states):
        raise EditError(f"block {min(taken.intersection(states))} is changed and taken by one batch: keep one of the edits")
    return taken


def _changed(view: PromptView, taken: frozenset[BlockId], states: dict[BlockId, Edit]) -> Changed:
    """The messages after edits of any kind."""
    changed = Changed(list(view.messages))
    left = len(taken) + len(states)
    if len(taken) > FEW:
        left -= _take_whole(changed, taken)
    if left:
        left -= _change_some(changed, taken, states, view.pricer, left)
    if left:
        _refuse_absent(view, taken.union(states))
    return changed


def _in_order(view: PromptView, takes: tuple[BlockId, ...]) -> Changed | None:
    """The messages after one edit that names most of its blocks message by message in their order, so that few ids are looked
    up; None where it does not."""
    after: list[ViewMessage | None] = list(view.messages)
    places: list[int] = []
    at, last, due = 0, len(takes), takes[0]
    for index, message in enumerate(view.messages):
        ids = message.ids
        if ids and ids[0] != due:
            continue  # nearly all of those that stay, at the price of one comparison
        end = at + len(ids)
        if takes[at:end] == ids:
            after[index] = None
            places.append(index)
            at = end
            if at == last:
                break
            due = takes[at]
    whole = [view.messages[index] for index in places]
    own, tokens = sum([message.own for message in whole]), sum([message.tokens for message in whole])
    changed = Changed(after, places, -own, -tokens, whole)
    rest = frozenset(takes[at:])
    left = len(takes) - at
    if not at or left != len(rest):
        return None
    if rest:
        left -= _take_whole(changed, rest)
    if left:
        left -= _change_some(changed, rest, {}, view.pricer, left)
    return None if left else changed


def _take_whole(changed: Changed, taken: frozenset[BlockId]) -> int:
    """Let the messages go of which all blocks are taken, and say how many blocks these are."""
    count = 0
    for index, message in enumerate(changed.after):
        if message is not None and taken.issuperset(message.ids):
            changed.take(index, message)
            count += len(message.ids)
    return count


def _change_some(changed: Changed, taken: frozenset[BlockId], states: dict[BlockId, Edit], pricer: Pricer, left: int) -> int:
    """Change the messages of which the batch touches some blocks, `left` in all, from the end that is nearer by their seqs; say how
    many were found."""
    few = len(taken) <= FEW
    seqs = {block.seq for block in (*states, *taken)} if few else {block.seq for block in states}
    count = 0
    end = len(changed.after)
    middle = changed.after[end // 2] if end else None
    is_old = middle is not None and bool(seqs) and max(seqs) < middle.seqs[0]
    for index in range(end) if is_old else range(end - 1, -1, -1):
        if count == left:
            break
        message = changed.after[index]
        if message is None or (seqs.isdisjoint(message.seqs) and (few or taken.isdisjoint(message.ids))):
            continue
        if taken.issuperset(message.ids):
            changed.take(index, message)
            count += len(message.ids)
            continue
        partly, seen = _partly(message, taken, states, pricer, changed.gone)
        if seen:
            changed.put(index, message, partly)
            count += seen
    return count


def _partly(
    message: ViewMessage, taken: frozenset[BlockId], states: dict[BlockId, Edit], pricer: Pricer, gone: set[str]
) -> tuple[ViewMessage, int]:
    """What is left of a message, and how many of its blocks the batch touched."""
    blocks: list[VisibleBlock] = []
    seen = 0
    for place, visible in zip(message.ids, message.blocks, strict=True):
        if place in taken:
            seen += 1
            if visible.block.tool_id is not None:
                gone.add(visible.block.tool_id)
        elif place in states:
            seen += 1
            blocks.append(_restated(message, visible, states[place], pricer))
        else:
            blocks.append(visible)
    return (with_blocks(message, blocks, pricer) if seen else message), seen


def _restated(message: ViewMessage, visible: VisibleBlock, edit: Edit, pricer: Pricer) -> VisibleBlock:
    block, body = visible.block, edit.body
    if body is None or edit.state is None:
        raise EditError(f"{edit.verb} of block {block.id} has no body: a planned edit says what stands in its place")
    if body.chars >= visible.body.chars:
        sizes = f"{body.chars} characters for {visible.body.chars}"
        raise EditError(f"{edit.verb} of block {block.id} gives {sizes}: it must be shorter, or not made")
    raw = own_raw(message, block)
    changed = None if raw is None else with_text(raw, block, pricer.text(body), edit.state)
    return visible_block(block, pricer, message.shape, raw=changed, state=edit.state, body=body)


def _refuse_absent(view: PromptView, targets: frozenset[BlockId]) -> None:
    known = {block for message in view.messages for block in message.ids}
    raise EditError(f"block {min(targets - known)} is not in the view")
