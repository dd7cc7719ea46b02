"""How a planned batch makes the next messages of a view. Only `PromptView.apply` calls it.

A batch costs O(its blocks) and a glance at each message; messages that it does not touch are passed on as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from compaction.edits import check
from compaction.errors import EditError, OrphanError
from compaction.messages import BlockId, Message
from compaction.pricing import Pricer
from compaction.prompt import ViewMessage, VisibleBlock, message_as_logged, own_raw, visible_block, with_blocks
from compaction.transcript import Edit
from compaction.wire_blocks import with_text

if TYPE_CHECKING:
    from compaction.view import PromptView


def stamped(edits: Iterable[Edit], layer: str) -> tuple[Edit, ...]:
    """The edits with the layer that planned them; EditError for one that has neither of the two shapes."""
    for edit in edits:
        check(edit)
    return tuple([edit if edit.layer == layer else replace(edit, layer=layer) for edit in edits])


def next_messages(view: PromptView, edits: Sequence[Edit], added: Sequence[Message]) -> tuple[ViewMessage, ...]:
    """The messages after the batch. Raises EditError and OrphanError."""
    states = _states(edits)
    arriving = _arriving(view, edits, added)
    changed = _in_order(view, edits[0].takes) if len(edits) == 1 and edits[0].takes else None
    if changed is None:
        changed = _changed(view, _taken(edits, states), states)
    if arriving:
        messages = _with_arriving(view, edits, arriving, changed.after)
        changed.gone.update(tool_id for message in arriving.values() for tool_id in (*message.uses, *message.results))
    else:
        messages = tuple([message for message in changed.after if message is not None])
    if changed.gone or (changed.whole and not (len(messages) < len(changed.whole) and _all_paired(messages))):
        changed.gone.update(*[message.uses for message in changed.whole], *[message.results for message in changed.whole])
        _refuse_orphans(view, messages, changed.gone, arriving)
    return messages


@dataclass(slots=True)
class _Changed:
    """What is left of each message, None where nothing is; the messages that went whole; ids of tool blocks that went otherwise."""

    after: list[ViewMessage | None]
    whole: list[ViewMessage] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)


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


def _changed(view: PromptView, taken: frozenset[BlockId], states: dict[BlockId, Edit]) -> _Changed:
    """The messages after edits of any kind."""
    changed = _Changed(list(view.messages))
    left = len(taken) + len(states)
    if taken:
        left -= _take_whole(changed, taken)
    if left:
        left -= _change_some(changed.after, taken, states, view.pricer, changed.gone, left)
    if left:
        _refuse_absent(view, taken.union(states))
    return changed


def _in_order(view: PromptView, takes: tuple[BlockId, ...]) -> _Changed | None:
    """The messages after one edit that names most of its blocks message by message in their order, so that few ids are looked
    up; None where it does not."""
    changed, at = _Changed(list(view.messages)), 0
    for index, message in enumerate(view.messages):
        end = at + len(message.ids)
        if takes[at:end] == message.ids:
            changed.after[index] = None
            changed.whole.append(message)
            at = end
    rest = frozenset(takes[at:])
    left = len(takes) - at
    if not at or left != len(rest):
        return None
    if rest:
        left -= _take_whole(changed, rest)
    if left:
        left -= _change_some(changed.after, rest, {}, view.pricer, changed.gone, left)
    return None if left else changed


def _take_whole(changed: _Changed, taken: frozenset[BlockId]) -> int:
    """Let the messages go of which all blocks are taken, and say how many blocks these are."""
    count = 0
    for index, message in enumerate(changed.after):
        if message is not None and taken.issuperset(message.ids):
            changed.after[index] = None
            changed.whole.append(message)
            count += len(message.ids)
    return count


def _all_paired(messages: Sequence[ViewMessage]) -> bool:
    """Whether each call has its result among the messages, and each result its call."""
    uses = frozenset().union(*[message.uses for message in messages])
    return uses == frozenset().union(*[message.results for message in messages])


def _change_some(
    after: list[ViewMessage | None], taken: frozenset[BlockId], states: dict[BlockId, Edit], pricer: Pricer, gone: set[str], left: int
) -> int:
    """Change the messages of which the batch touches some blocks, `left` in all, and say how many were found. From the newest on:
    a layer that runs before every call changes what has just grown old."""
    touched, changed = {block.seq for block in states}, 0
    for index in range(len(after) - 1, -1, -1):
        if changed == left:
            break
        message = after[index]
        if message is not None and not (touched.isdisjoint(message.seqs) and (not taken or taken.isdisjoint(message.ids))):
            after[index], seen = _partly(message, taken, states, pricer, gone)
            changed += seen
    return changed


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


def _arriving(view: PromptView, edits: Sequence[Edit], added: Sequence[Message]) -> dict[int, ViewMessage]:
    """The added messages by seq; EditError unless each has the next seq and is put once."""
    put = sorted(seq for edit in edits for seq in edit.puts)
    seqs = [message.seq for message in added]
    if seqs != list(range(view.next_seq, view.next_seq + len(added))):
        raise EditError(f"the added messages are {seqs}: their seqs must run from {view.next_seq}")
    if put != seqs:
        raise EditError(f"the edits put messages {put} and {seqs} are added: each added message is put once")
    for message in added:
        if not message.blocks or [block.id for block in message.blocks] != [
            BlockId(message.seq, i + 1) for i in range(len(message.blocks))
        ]:
            raise EditError(f"the blocks of added message {message.seq} must be {message.seq}.1, {message.seq}.2, …")
    return {message.seq: message_as_logged(message, view.pricer) for message in added}


def _with_arriving(
    view: PromptView,
    edits: Sequence[Edit],
    arriving: dict[int, ViewMessage],
    after: Sequence[ViewMessage | None],
) -> tuple[ViewMessage, ...]:
    """What is left, and the added messages: directly after an anchor, in the place of what they replace, or at the end."""
    taken: frozenset[BlockId] = frozenset().union(*[edit.takes for edit in edits])
    rows: list[tuple[ViewMessage, ...]] = [() if message is None else (message,) for message in after]
    for edit in edits:
        if edit.puts:
            row = tuple([arriving[seq] for seq in edit.puts])
            place, first = _place(view, edit)
            if place is None:
                rows.append(row)
            elif first is None or _stays_before(view.messages[place], taken, first):
                rows[place] = (*rows[place], *row)
            else:
                rows[place] = (*row, *rows[place])
    return tuple([message for row in rows for message in row])


def _place(view: PromptView, edit: Edit) -> tuple[int | None, BlockId | None]:
    """The index of the message where an edit puts, and the first block taken there (None: it stands after an anchor)."""
    if edit.after is not None:
        for index, message in enumerate(view.messages):
            if edit.after in message.ids:
                return index, None
        raise EditError(f"{edit.verb}: block {edit.after} is not in the view")
    takes = frozenset(edit.takes)
    for index, message in enumerate(view.messages):
        if not takes.isdisjoint(message.ids):
            return index, next(block for block in message.ids if block in takes)
    return None, None


def _stays_before(message: ViewMessage, taken: frozenset[BlockId], first: BlockId) -> bool:
    """Whether a block of the message stays before `first`; EditError where another stays behind it: a put would split it."""
    place = message.ids.index(first)
    before, behind = ([block for block in part if block not in taken] for part in (message.ids[:place], message.ids[place:]))
    if before and behind:
        raise EditError(f"a message would be put between blocks {before[-1]} and {behind[0]} of one message: take it whole")
    return bool(before)


def _refuse_absent(view: PromptView, targets: frozenset[BlockId]) -> None:
    known = {block for message in view.messages for block in message.ids}
    raise EditError(f"block {min(targets - known)} is not in the view")


def _refuse_orphans(view: PromptView, messages: tuple[ViewMessage, ...], touched: set[str], arriving: dict[int, ViewMessage]) -> None:
    """OrphanError where a pair of the view has one side left, or an added tool block has no other half."""
    uses, results = _sides(messages, touched)
    lone = uses ^ results
    if not lone:
        return
    had_uses, had_results = _sides(view.messages, lone)
    fresh = {tool_id for message in arriving.values() for tool_id in (*message.uses, *message.results)}
    split = (had_uses & had_results) | (lone & fresh)
    if split:
        tool_id = min(split)
        block = next(visible.block.id for message in messages for visible in message.blocks if _is_side(visible, tool_id))
        raise OrphanError(f"the batch would leave block {block} (tool id {tool_id}) without its other half: take both or none")


def _sides(messages: Iterable[ViewMessage], wanted: set[str]) -> tuple[set[str], set[str]]:
    """Which of the ids have a call in the messages, and which a result."""
    uses: set[str] = set()
    results: set[str] = set()
    for message in messages:
        if message.uses and not wanted.isdisjoint(message.uses):
            uses.update(wanted.intersection(message.uses))
        if message.results and not wanted.isdisjoint(message.results):
            results.update(wanted.intersection(message.results))
    return uses, results


def _is_side(visible: VisibleBlock, tool_id: str) -> bool:
    return visible.block.kind in ("tool_use", "tool_result") and (visible.block.tool_id or "") == tool_id
