"""The transcript of a lane in one unit: its messages as a view holds them, and the prefix sums of their sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from compaction.messages import Block, BlockId, Body
from compaction.pricing import Pricer
from compaction.replay.arrivals import Arrival
from compaction.view import ViewMessage, shape_of, view_message, visible_block

Built = tuple[Arrival, tuple[Block, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """`own[k]` and `tokens[k]` are the sizes of the first k messages together, without what the unit asks for the list."""

    messages: tuple[ViewMessage, ...]
    own: tuple[int, ...]
    tokens: tuple[int, ...]
    pricer: Pricer


def rendered(built: Iterable[Built], pricer: Pricer) -> Rendered:
    """Price every message once."""
    messages = tuple(_message(arrival, blocks, pricer) for arrival, blocks in built)
    return Rendered(
        messages=messages,
        own=tuple(accumulate((message.own for message in messages), initial=0)),
        tokens=tuple(accumulate((message.tokens for message in messages), initial=0)),
        pricer=pricer,
    )


def blocks_of(arrivals: Iterable[Arrival], read_keys: dict[str, str]) -> Iterator[Built]:
    """The blocks of each message. The path of a result is the key of the file read that it answers."""
    for arrival in arrivals:
        yield (
            arrival,
            tuple(
                Block(
                    id=BlockId(row.seq, row.i),
                    kind=row.kind,
                    body=Body(digest=row.digest, chars=row.chars),
                    state=row.state,
                    tool_id=row.tool_id or None,
                    tool_name=row.tool_name or None,
                    path=(_read_key(row.tool_id, row.path, read_keys, failed=row.is_error) if row.kind == "tool_result" else row.path)
                    or None,
                    media_bytes=row.media_bytes,
                    signature_chars=row.signature_chars,
                    is_error=row.is_error,
                    flags=row.flags,
                )
                for row in arrival.blocks
            ),
        )


def _read_key(tool_id: str, path: str, read_keys: dict[str, str], *, failed: bool) -> str:
    """A result that says itself what it read needs no call; one that failed read nothing."""
    return "" if failed else path or read_keys.get(tool_id, "")


def _message(arrival: Arrival, blocks: Sequence[Block], pricer: Pricer) -> ViewMessage:
    shape = shape_of(blocks)
    return view_message(arrival.role, arrival.origin, shape, [visible_block(block, pricer, shape) for block in blocks], pricer)
