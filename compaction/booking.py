"""The ledger lines of a planned batch: what each edit did to each block, in the view's own unit and in exact counts.

What a message costs beside its blocks, and what the list costs beside its messages, is booked with the block that changed
it, so that in both sizes before − removed + added = after.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from compaction.edits import LedgerEntry, is_state_edit
from compaction.messages import BlockId
from compaction.prompt import ViewMessage, VisibleBlock
from compaction.transcript import Edit

if TYPE_CHECKING:
    from compaction.view import PromptView


def entries_of(before: PromptView, after: PromptView, edits: tuple[Edit, ...]) -> tuple[LedgerEntry, ...]:
    """The lines of all edits of one batch, in their order."""
    book = _Book(before, after)
    return tuple(entry for edit in edits for entry in book.lines(edit))


class _Book:
    """Goes through a batch block by block and knows what each message still holds."""

    def __init__(self, before: PromptView, after: PromptView) -> None:
        self._pricer = before.pricer
        self._blocks = {visible.block.id: visible for visible in before.blocks}
        self._later = {visible.block.id: visible for visible in after.blocks}
        self._home = {block: message for message in before.messages for block in message.ids}
        self._arriving = {message.seqs[0]: message for message in after.messages if message.ids[0] not in self._home}
        self._held: dict[int, list[VisibleBlock]] = {}
        self._count = len(before.messages)

    def lines(self, edit: Edit) -> Iterator[LedgerEntry]:
        if is_state_edit(edit) and edit.block is not None:
            yield self._changed(edit, edit.block)
        for block in edit.takes:
            yield self._left(edit, block)
        for seq in edit.puts:
            yield from self._came(edit, self._arriving[seq])

    def _changed(self, edit: Edit, block: BlockId) -> LedgerEntry:
        old, new = self._blocks[block], self._later[block]
        return LedgerEntry(
            compaction=1,
            verb=edit.verb,
            block=block,
            state_before=old.state,
            state_after=new.state,
            tokens_before=old.tokens,
            tokens_after=new.tokens,
            body_after=new.body.without_text(),
            layer=edit.layer,
            own_before=old.own,
            own_after=new.own,
        )

    def _left(self, edit: Edit, block: BlockId) -> LedgerEntry:
        old = self._blocks[block]
        return LedgerEntry(
            compaction=1,
            verb=edit.verb,
            block=block,
            state_before=old.state,
            tokens_before=old.tokens,
            layer=edit.layer,
            own_before=old.own + self._around_left(self._home[block], old),
        )

    def _around_left(self, message: ViewMessage, old: VisibleBlock) -> int:
        """What the message and the list cost less without this block."""
        held = self._held.setdefault(id(message), list(message.blocks))
        cost = self._around(message, held)
        held.remove(old)
        less = cost - self._around(message, held)
        return less if held else less + self._counted(-1)

    def _came(self, edit: Edit, message: ViewMessage) -> Iterator[LedgerEntry]:
        around = self._around(message, list(message.blocks)) + self._counted(1)
        for new in message.blocks:
            yield LedgerEntry(
                compaction=1,
                verb=edit.verb,
                block=new.block.id,
                adds=True,
                state_after=new.state,
                tokens_after=new.tokens,
                layer=edit.layer,
                own_after=new.own + around,
            )
            around = 0

    def _counted(self, change: int) -> int:
        """By how much the cost of the list changes, as a positive figure, with one message more or less."""
        unit, count = self._pricer.unit, self._count
        self._count = count + change
        return abs(unit.view(self._count) - unit.view(count))

    def _around(self, message: ViewMessage, held: list[VisibleBlock]) -> int:
        return self._pricer.message(message.role, message.shape, [visible.block for visible in held], message.raw)
