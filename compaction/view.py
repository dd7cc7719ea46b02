"""The frozen view that a layer is shown. `apply` gives the next one, with the ledger of what changed.

Planned edits are held to more than recorded ones: they must have one of the two shapes, their targets must be in the
view, a state edit must make its text shorter, and a batch must not split a tool interaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from compaction.edits import check, is_state_edit
from compaction.errors import EditError, OrphanError
from compaction.live import Batch, LiveView, Sizes
from compaction.messages import Block, BlockId, BlockState, Body, Message
from compaction.order import Placed
from compaction.transcript import Edit


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleBlock:
    """A block as it stands in a view: its state, its content there (None: not known), its estimate (≈ tokens)."""

    block: Block
    state: BlockState
    body: Body | None
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The next view, and what the batch did."""

    view: PromptView
    batch: Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptView:
    """The ordered blocks of a prompt. `messages` are those that its blocks belong to, by seq."""

    blocks: tuple[VisibleBlock, ...]
    messages: dict[int, Message] = field(repr=False)
    sizes: Sizes = field(repr=False, compare=False)

    @classmethod
    def of(cls, messages: Iterable[Message], sizes: Sizes) -> PromptView:
        """All blocks of these messages, as logged."""
        known = {message.seq: message for message in messages}
        live = LiveView(sizes)
        for message in known.values():
            live.append(message)
        live.show(known)
        return _frozen(live, known, sizes)

    @property
    def tokens(self) -> int:
        """Estimated prompt tokens of the view (≈)."""
        return sum(visible.tokens for visible in self.blocks)

    def apply(self, edits: Sequence[Edit], *, added: Sequence[Message] = (), compaction: int = 1) -> Applied:
        """The view after one planned batch; `added` are the messages that its edits put.

        Raises EditError for an edit that cannot be carried out and OrphanError for a batch that makes a new orphan;
        this view stays as it is either way.
        """
        live = self._live(added)
        for edit in edits:
            _check_planned(edit, live)
        orphans = set(_orphans(live))
        batch = live.apply(edits, compaction=compaction)
        if batch.missing:
            raise EditError(f"block {batch.missing[0]} is not in the view any more: another edit of this batch took it")
        for tool_id, block in _orphans(live):
            if (tool_id, block) not in orphans:
                raise OrphanError(f"the batch would leave block {block} (tool id {tool_id}) without its other half: take both or none")
        return Applied(view=_frozen(live, self.messages | {message.seq: message for message in added}, self.sizes), batch=batch)

    def _live(self, added: Sequence[Message]) -> LiveView:
        live = LiveView(self.sizes)
        for message in (*self.messages.values(), *added):
            live.append(message)
        live.place((visible.block.id, visible.state, visible.body, visible.tokens) for visible in self.blocks)
        return live


def _frozen(live: LiveView, messages: dict[int, Message], sizes: Sizes) -> PromptView:
    blocks = tuple(VisibleBlock(block=placed.block, state=placed.state, body=placed.body, tokens=placed.tokens) for placed in live)
    kept = {visible.block.id.seq for visible in blocks}
    return PromptView(blocks=blocks, messages={seq: message for seq, message in messages.items() if seq in kept}, sizes=sizes)


def _check_planned(edit: Edit, live: LiveView) -> None:
    check(edit)
    for block in (edit.block, *edit.takes, edit.after):
        if block is not None and block not in live:
            raise EditError(f"{edit.verb}: block {block} is not in the view")
    placed = live.find(edit.block) if is_state_edit(edit) and edit.block is not None else None
    if placed is not None and edit.body is not None and edit.body.chars >= _chars(placed):
        sizes = f"{edit.body.chars} characters for {_chars(placed)}"
        raise EditError(f"{edit.verb} of block {placed.block.id} gives {sizes}: it must be shorter, or not made")


def _chars(placed: Placed) -> int:
    return placed.block.body.chars if placed.body is None else placed.body.chars


def _orphans(live: LiveView) -> Iterator[tuple[str, BlockId]]:
    for tool_id, places in live.tools.items():
        if len({placed.block.kind for placed in places}) == 1:
            yield from ((tool_id, placed.block.id) for placed in places)
