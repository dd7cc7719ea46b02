"""The transcript of a lane in one unit: its messages as a view holds them, and the prefix sums of their sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from compaction.layers.tool_results import is_turn
from compaction.messages import Block, BlockId, Body
from compaction.pricing import Pricer
from compaction.prompt import ViewMessage, shape_of, view_message, visible_block
from compaction.replay.arrivals import Arrival
from compaction.replay.rows import BlockRow

Built = tuple[Arrival, tuple[Block, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeResults:
    """Tool results above a length: the places of their messages, and which results they are, both from 0 and ascending."""

    messages: tuple[int, ...]
    ordinals: tuple[int, ...]


class Rendered:
    """`own[k]` and `tokens[k]` are the sizes of the first k messages together, without what the unit asks for the list;
    `logged[k]` and `results[k]` count the logged messages and the tool results of user messages in them. `is_list_free`:
    the unit asks nothing for the list, so sums are sizes."""

    def __init__(self, messages: Sequence[ViewMessage], pricer: Pricer) -> None:
        self.messages = tuple(messages)
        self.pricer = pricer
        self.own = _sums(message.own for message in messages)
        self.tokens = _sums(message.tokens for message in messages)
        self.logged = _sums(len(message.seqs) for message in messages)
        self.results = _sums(len(message.results) if message.role != "assistant" else 0 for message in messages)
        self.is_list_free = not pricer.unit.view(0) and not pricer.unit.view(2)
        self._large: dict[int, LargeResults] = {}

    @cached_property
    def in_results(self) -> tuple[int, ...]:
        """The sizes of all tool results in the first k messages together, in the unit."""
        return _sums(_in_results(message) for message in self.messages)

    @cached_property
    def turns(self) -> tuple[int, ...]:
        """The places of the messages that begin a turn of a person."""
        return tuple(place for place, message in enumerate(self.messages) if is_turn(message))

    def results_above(self, chars: int) -> LargeResults:
        """The results of user messages with more characters; found once."""
        found = self._large.get(chars)
        if found is None:
            large = list(self._results_above(chars))
            found = self._large[chars] = LargeResults(
                messages=tuple(dict.fromkeys(place for place, _ in large)), ordinals=tuple(ordinal for _, ordinal in large)
            )
        return found

    def _results_above(self, chars: int) -> Iterator[tuple[int, int]]:
        for place, message in enumerate(self.messages):
            if message.largest_result > chars and message.role != "assistant":
                results = [visible for visible in message.blocks if visible.block.kind == "tool_result"]
                for ordinal, visible in enumerate(results, start=self.results[place]):
                    if visible.body.chars > chars:
                        yield place, ordinal


def _in_results(message: ViewMessage) -> int:
    return sum([visible.own for visible in message.blocks if visible.block.kind == "tool_result"]) if message.results else 0


def rendered(built: Iterable[Built], pricer: Pricer) -> Rendered:
    """Price every message once."""
    return Rendered([_message(arrival, blocks, pricer) for arrival, blocks in built], pricer)


def built_of(arrivals: Iterable[Arrival], read_keys: dict[str, str]) -> Iterator[Built]:
    """The blocks of each message. The path of a result is the key of the file read that it answers."""
    for arrival in arrivals:
        yield arrival, tuple([block_of(row, _path(row, read_keys)) for row in arrival.blocks])


def block_of(row: BlockRow, path: str) -> Block:
    """The block of a row, without its text."""
    return Block(
        id=BlockId(row.seq, row.i),
        kind=row.kind,
        body=Body(digest=row.digest, chars=row.chars),
        state=row.state,
        tool_id=row.tool_id or None,
        tool_name=row.tool_name or None,
        path=path or None,
        media_bytes=row.media_bytes,
        signature_chars=row.signature_chars,
        is_error=row.is_error,
        flags=row.flags,
    )


def _path(row: BlockRow, read_keys: dict[str, str]) -> str:
    """A result that says itself what it read needs no call; one that failed read nothing."""
    if row.kind != "tool_result":
        return row.path
    return "" if row.is_error else row.path or read_keys.get(row.tool_id, "")


def _message(arrival: Arrival, blocks: Sequence[Block], pricer: Pricer) -> ViewMessage:
    shape = shape_of(blocks)
    return view_message(arrival.role, arrival.origin, shape, [visible_block(block, pricer, shape) for block in blocks], pricer)


def _sums(figures: Iterable[int]) -> tuple[int, ...]:
    return tuple(accumulate(figures, initial=0))
