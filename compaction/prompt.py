"""Messages as the provider gets them, priced: what a view is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compaction.counters.units import NO_CONTENT, Shape
from compaction.messages import Block, BlockId, BlockState, Body, Message, Origin, Role
from compaction.pricing import Pricer
from compaction.wire_blocks import NO_RAW, raw_block_of


@dataclass(frozen=True, slots=True)
class VisibleBlock:
    """A block as it stands in a view: its state, its content there, its size in the view's own unit, and the exact count of
    its text. The `path` of a tool result is the key of the file read that it answers."""

    block: Block
    state: BlockState
    body: Body
    own: int
    tokens: int


@dataclass(frozen=True, slots=True)
class ViewMessage:
    """One message as the provider gets it: it may hold blocks of several logged messages (`seqs`).

    `own` is its size in the view's unit, with what the message itself costs; `tokens` the exact counts of its texts.
    `uses` and `results` are the ids of its calls and results, `reads` the id and key of each file read that it answers,
    `largest_result` the characters of its longest result; `thinks`: it holds thinking. `raw` is the caller's message that it
    was read from.
    """

    role: Role
    origin: Origin
    shape: Shape
    blocks: tuple[VisibleBlock, ...]
    own: int
    tokens: int
    uses: tuple[str, ...]
    results: tuple[str, ...]
    raw: Mapping[str, object] | None
    seqs: tuple[int, ...]
    ids: tuple[BlockId, ...]
    reads: tuple[tuple[str, str], ...]
    largest_result: int
    thinks: bool


def visible_block(
    block: Block, pricer: Pricer, shape: Shape, *, raw: object = NO_RAW, state: BlockState | None = None, body: Body | None = None
) -> VisibleBlock:
    """A block as logged, or with another content and state, priced. `raw` is the caller's own block with that content."""
    content = block.body if body is None else body
    return VisibleBlock(block, state or block.state, content, pricer.block(block, content, shape, raw), pricer.tokens(content))


def view_message(
    role: Role, origin: Origin, shape: Shape, blocks: Sequence[VisibleBlock], pricer: Pricer, *, raw: Mapping[str, object] | None = None
) -> ViewMessage:
    """A message of priced blocks, with all that layers ask of it worked out once."""
    own, tokens, largest, thinks = 0, 0, 0, False
    uses: list[str] = []
    results: list[str] = []
    reads: list[tuple[str, str]] = []
    logged: list[Block] = []
    for visible in blocks:
        block = visible.block
        logged.append(block)
        own += visible.own
        tokens += visible.tokens
        if block.kind == "tool_use":
            uses.append(block.tool_id or "")
        elif block.kind == "tool_result":
            results.append(block.tool_id or "")
            largest = max(largest, visible.body.chars)
            if block.path:
                reads.append((block.tool_id or "", block.path))
        elif block.kind == "thinking":
            thinks = True
    ids = tuple([block.id for block in logged])
    return ViewMessage(
        role=role,
        origin=origin,
        shape=shape,
        blocks=tuple(blocks),
        own=own + pricer.message(role, shape, logged, raw),
        tokens=tokens,
        uses=tuple(uses),
        results=tuple(results),
        raw=raw,
        seqs=(ids[0].seq,) if len(ids) == 1 else tuple(dict.fromkeys([place.seq for place in ids])),
        ids=ids,
        reads=tuple(reads),
        largest_result=largest,
        thinks=thinks,
    )


def shape_of(blocks: Sequence[Block]) -> Shape:
    """The shape in which messages of imported sessions are priced: a single text is a plain text."""
    if any(NO_CONTENT in block.flags for block in blocks):
        return "absent"
    return "text" if len(blocks) == 1 and blocks[0].kind == "text" else "blocks"


def message_as_logged(message: Message, pricer: Pricer) -> ViewMessage:
    """One logged message for itself."""
    shape = shape_of(message.blocks)
    blocks = [visible_block(block, pricer, shape) for block in message.blocks]
    return view_message(message.role, message.origin, shape, blocks, pricer)


def with_blocks(message: ViewMessage, blocks: Sequence[VisibleBlock], pricer: Pricer) -> ViewMessage:
    """The message with other blocks."""
    return view_message(message.role, message.origin, message.shape, blocks, pricer, raw=message.raw)


def own_raw(message: ViewMessage, block: Block) -> object:
    """The caller's own block of a message, as it was given; NO_RAW where there is none."""
    return NO_RAW if message.raw is None else raw_block_of(message.raw, block)
