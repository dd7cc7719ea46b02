"""How a planned batch makes the next messages of a view. Only `PromptView.apply` calls it.

A batch costs O(its blocks); messages that it does not touch are passed on as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compaction.changing import Changed, changed_by
from compaction.edits import check
from compaction.errors import EditError, OrphanError
from compaction.messages import BlockId, Message
from compaction.prompt import ViewMessage, VisibleBlock, message_as_logged
from compaction.transcript import Edit

if TYPE_CHECKING:
    from compaction.view import PromptView


@dataclass(frozen=True, slots=True)
class After:
    """The messages after a batch, by how much their sizes together differ from those before, and how many messages at the head
    stand as before."""

    messages: tuple[ViewMessage, ...]
    own: int
    tokens: int
    untouched: int


def stamped(edits: Iterable[Edit], layer: str) -> tuple[Edit, ...]:
    """The edits with the layer that planned them; EditError for one that has neither of the two shapes."""
    for edit in edits:
        check(edit)
    return tuple([edit if edit.layer == layer else replace(edit, layer=layer) for edit in edits])


def next_messages(view: PromptView, edits: Sequence[Edit], added: Sequence[Message]) -> After:
    """The messages after the batch. Raises EditError and OrphanError."""
    arriving = _arriving(view, edits, added)
    changed = changed_by(view, edits)
    messages = _with_arriving(view, edits, arriving, changed.after) if arriving else changed.left()
    untouched = 0 if arriving else min(changed.touched, default=0)
    changed.gone.update(tool_id for message in arriving.values() for tool_id in (*message.uses, *message.results))
    _refuse_split(view, messages, changed, arriving, untouched)
    return After(
        messages=messages,
        own=changed.own + sum(message.own for message in arriving.values()),
        tokens=changed.tokens + sum(message.tokens for message in arriving.values()),
        untouched=untouched,
    )


def _refuse_split(
    view: PromptView, messages: tuple[ViewMessage, ...], changed: Changed, arriving: dict[int, ViewMessage], untouched: int
) -> None:
    """OrphanError where the batch splits an interaction. Where most messages went, those left are looked at first."""
    gone = changed.gone
    if not gone and changed.whole and len(messages) < len(changed.whole) and _all_paired(messages):
        return
    gone.update(*[message.uses for message in changed.whole], *[message.results for message in changed.whole])
    if gone:
        free = min(view.first_tool(), untouched)
        _refuse_orphans(view.messages[free:], messages[free:], gone, arriving)


def _all_paired(messages: Sequence[ViewMessage]) -> bool:
    """Whether each call has its result among the messages, and each result its call."""
    uses = frozenset().union(*[message.uses for message in messages])
    return uses == frozenset().union(*[message.results for message in messages])


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


def _refuse_orphans(
    before: Sequence[ViewMessage], messages: Sequence[ViewMessage], touched: set[str], arriving: dict[int, ViewMessage]
) -> None:
    """OrphanError where a pair of the view has one side left, or an added tool block has no other half."""
    uses, results = _sides(messages, touched)
    lone = uses ^ results
    if not lone:
        return
    had_uses, had_results = _sides(before, lone)
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
