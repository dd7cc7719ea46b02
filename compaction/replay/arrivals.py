"""The transcript of a lane as provider messages, each with the first call that it was sent with.

The transcript is every block that a call on the active path saw, in order, without recorded summaries, since their originals
are in it; only one that the lane starts from stays. The answer of one call is one message however many records it was logged
in, and neighbouring results that answer it are one message.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from compaction.messages import Origin, Role
from compaction.replay.rows import BlockRow, CallRow, MessageRow

SUMMARY_KINDS = frozenset({"compaction"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One provider message. `call` is the first call on the active path that was sent it, `answers` the call that made it."""

    role: Role
    origin: Origin
    call: int
    blocks: tuple[BlockRow, ...]
    answers: int | None = None

    @property
    def seqs(self) -> tuple[int, ...]:
        """The logged messages that it was put together from."""
        return tuple(dict.fromkeys(block.seq for block in self.blocks))


def arrivals_of(messages: Sequence[MessageRow], blocks: Iterable[BlockRow], calls: Sequence[CallRow]) -> tuple[Arrival, ...]:
    """The provider messages in order; `messages` and `calls` by seq and n."""
    active = [call.n for call in calls if not call.abandoned]
    seen = sorted(_entered(messages, tuple(blocks), active), key=_by_entry)
    return tuple(_merged(_whole(seen, messages)))


def starts_from_summary(messages: Sequence[MessageRow], blocks: Iterable[BlockRow]) -> bool:
    """Whether the first thing that a call saw was a summary of what was said before the lane."""
    first = min((block for block in blocks if block.first_call is not None), key=_by_row, default=None)
    return first is not None and is_summary(messages[first.seq - 1], first)


def is_summary(message: MessageRow, block: BlockRow) -> bool:
    """Whether a compaction put it there: its originals are in the transcript."""
    return message.origin == "summary" or block.kind in SUMMARY_KINDS


def _entered(messages: Sequence[MessageRow], blocks: Sequence[BlockRow], active: list[int]) -> Iterator[tuple[int, BlockRow]]:
    start = min((block.first_call for block in blocks if block.first_call is not None), default=0)
    for block in blocks:
        message = messages[block.seq - 1]
        if block.first_call is None or message.abandoned or (block.first_call > start and is_summary(message, block)):
            continue
        place = bisect_left(active, block.first_call)
        if place < len(active):
            yield active[place], block


def _by_row(block: BlockRow) -> tuple[int, float, int, int]:
    return block.first_call or 0, block.position, block.seq, block.i


def _by_entry(entry: tuple[int, BlockRow]) -> tuple[int, int, float, int, int]:
    return entry[0], *_by_row(entry[1])


def _whole(entries: Iterable[tuple[int, BlockRow]], messages: Sequence[MessageRow]) -> Iterator[Arrival]:
    """Blocks of one logged message that came with one call."""
    for (call, seq), group in groupby(entries, key=lambda entry: (entry[0], entry[1].seq)):
        message = messages[seq - 1]
        blocks = tuple(block for _, block in group)
        role: Role = "user" if message.role == "tool" else message.role
        yield Arrival(role=role, origin=message.origin, call=call, blocks=blocks, answers=message.call)


def _merged(arrivals: Iterable[Arrival]) -> Iterator[Arrival]:
    last: Arrival | None = None
    asked: frozenset[str] = frozenset()
    for arrival in arrivals:
        if last is not None and _is_one(last, arrival, asked):
            last = replace(last, blocks=(*last.blocks, *arrival.blocks))
        else:
            if last is not None:
                yield last
            last = arrival
        if last.role == "assistant":
            asked = _ids(last, "tool_use")
    if last is not None:
        yield last


def _is_one(last: Arrival, arrival: Arrival, asked: frozenset[str]) -> bool:
    if last.role != arrival.role or last.call != arrival.call:
        return False
    if last.role == "assistant":
        return last.answers is not None and last.answers == arrival.answers
    return bool(_ids(last, "tool_result") & asked) and bool(_ids(arrival, "tool_result") & asked)


def _ids(arrival: Arrival, kind: str) -> frozenset[str]:
    return frozenset(block.tool_id for block in arrival.blocks if block.kind == kind and block.tool_id)


call_of = attrgetter("call")
