"""Edits: the two shapes, their constructors, and the ledger line that each applied edit leaves.

A state edit gives one block a new content; a range edit takes blocks away, all or none, and may put messages in
their place. `check` refuses an edit that mixes the shapes; `PromptView.apply` is what carries planned ones out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from compaction.errors import EditError
from compaction.messages import BlockId, BlockState, Body
from compaction.transcript import Edit, Verb

STATE_OF: dict[Verb, BlockState] = {"truncate": "truncated", "clear": "cleared", "spill": "spilled", "replace": "replaced"}
RANGE_VERBS: frozenset[Verb] = frozenset({"remove", "replace", "summarise", "restore"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """What one edit did to one block. `tokens_…` are estimated prompt tokens (≈), exact ones where a layer planned the edit.

    `adds` marks a block that the edit put into the view (`tokens_before` 0); a block that it took away has
    `tokens_after` 0 and `state_after` None. `never_sent`: no call of the lane ever saw the block.
    `layer` planned the edit (None: a source recorded it); `own_…` is the size in its policy's own unit, in which a
    message that is emptied or put is booked with the block that emptied or began it.
    """

    compaction: int
    verb: Verb
    block: BlockId
    adds: bool = False
    state_before: BlockState | None = None
    state_after: BlockState | None = None
    tokens_before: int = 0
    tokens_after: int = 0
    never_sent: bool = False
    body_after: Body | None = None
    layer: str | None = None
    own_before: int = 0
    own_after: int = 0


def state_edit(verb: Verb, block: BlockId, body: Body | None = None, *, unit_tokens: int | None = None) -> Edit:
    """Give `block` the content `body`, or, where that is not known, `unit_tokens` as its size."""
    return Edit(verb=verb, block=block, state=STATE_OF.get(verb), body=body, unit_tokens=unit_tokens)


def truncate(block: BlockId, body: Body) -> Edit:
    """`body`, a shorter text, stands for the content of `block`."""
    return state_edit("truncate", block, body)


def clear(block: BlockId, body: Body | None = None, *, unit_tokens: int | None = None) -> Edit:
    """A placeholder stands for the content: `body`, or `unit_tokens` in a prompt where its text is not known."""
    return state_edit("clear", block, body, unit_tokens=unit_tokens)


def spill(block: BlockId, body: Body) -> Edit:
    """The content went elsewhere; `body` is what points to it."""
    return state_edit("spill", block, body)


def remove(takes: Iterable[BlockId]) -> Edit:
    """The blocks `takes` leave, all or none, and nothing stands for them."""
    return Edit(verb="remove", takes=tuple(takes))


def summarise(takes: Iterable[BlockId], puts: Iterable[int]) -> Edit:
    """The messages `puts` (by seq) stand for the blocks `takes`."""
    return Edit(verb="summarise", takes=tuple(takes), puts=tuple(puts))


def restore(puts: Iterable[int], *, after: BlockId | None = None) -> Edit:
    """Bring messages back, directly after the block `after`, or at the end."""
    return Edit(verb="restore", puts=tuple(puts), after=after)


def is_state_edit(edit: Edit) -> bool:
    """Whether it changes one block in its place, and takes and puts none."""
    return edit.block is not None


def check(edit: Edit) -> None:
    """Raise EditError unless the edit has exactly one of the two shapes."""
    if is_state_edit(edit):
        if edit.takes or edit.puts or edit.after is not None:
            raise EditError(f"{edit.verb} of block {edit.block} also takes or puts blocks: make it two edits")
        if edit.state is None or edit.state == "whole":
            raise EditError(f"{edit.verb} of block {edit.block} has no new state: give one of {', '.join(STATE_OF.values())}")
        if edit.body is None and edit.unit_tokens is None:
            raise EditError(f"{edit.verb} of block {edit.block} has neither a body nor unit_tokens: give one")
        return
    if edit.verb not in RANGE_VERBS:
        raise EditError(f"{edit.verb} changes one block: name it in `block`")
    if edit.state is not None or edit.body is not None or edit.unit_tokens is not None:
        raise EditError(f"{edit.verb} of a range cannot carry a state, body or size: put a message instead")
    if not edit.takes and not edit.puts:
        raise EditError(f"{edit.verb} neither takes nor puts anything: leave it out")
    if edit.verb == "restore" and edit.takes:
        raise EditError("restore only adds: take blocks with remove, replace or summarise")
