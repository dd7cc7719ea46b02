"""Which tool blocks of a transcript pair, and where the model asked for compaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from compaction.compact_tool import COMPACT_TOOL
from compaction.messages import BlockId
from compaction.replay.arrivals import Arrival
from compaction.replay.rows import BlockRow


def unpaired(arrivals: Iterable[Arrival]) -> tuple[BlockId, ...]:
    """Tool blocks without another half, in order: a replay counts them as plain blocks.

    A pair is the first call with an id, in an assistant message, and its first result, in a user message that came with the
    same prompt, so that no view ever held one without the other.
    """
    uses: dict[str, tuple[BlockRow, int]] = {}
    paired: set[BlockId] = set()
    tools: list[BlockId] = []
    for arrival in arrivals:
        for block in arrival.blocks:
            place = BlockId(block.seq, block.i)
            if block.kind == "tool_use":
                tools.append(place)
                if arrival.role == "assistant" and block.tool_id.strip():
                    uses.setdefault(block.tool_id, (block, arrival.call))
            elif block.kind == "tool_result":
                tools.append(place)
                use, call = uses.get(block.tool_id, (None, 0))
                if arrival.role == "user" and use is not None and call == arrival.call and BlockId(use.seq, use.i) not in paired:
                    paired |= {place, BlockId(use.seq, use.i)}
    return tuple(place for place in tools if place not in paired)


def calls_after_compact(arrivals: Sequence[Arrival]) -> frozenset[int]:
    """The first calls after the model asked for compaction: its whole batch of calls is answered there."""
    blocks = list(chain.from_iterable(((block, arrival.call) for block in arrival.blocks) for arrival in arrivals))
    asked = {block.tool_id: call for block, call in blocks if block.kind == "tool_use" and block.tool_name == COMPACT_TOOL}
    answered = {block.tool_id: call for block, call in blocks if block.kind == "tool_result" and block.tool_id in asked}
    return frozenset({**asked, **answered}.values())
