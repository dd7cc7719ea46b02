"""What each call of a lane was sent, as the messages of its provider, for the rules of `compaction.protocol_rules`."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Protocol

from compaction.history import History
from compaction.messages import Block, BlockId, Message
from compaction.protocol_rules import Breach, ProviderRules, Turn, breaches, breaches_of_calls, turns_of

Prompt = tuple[int, tuple[Turn, ...]]


class Shown(Protocol):
    """Where a block stood in the prompts, as far as is needed here: a `Span`, or a row of a store."""

    @property
    def block(self) -> BlockId: ...
    @property
    def from_call(self) -> int: ...
    @property
    def to_call(self) -> int | None: ...
    @property
    def position(self) -> float: ...


def prompts_of(spans: Iterable[Shown], calls: Iterable[int], messages: Iterable[Message], rules: ProviderRules) -> Iterator[Prompt]:
    """The number of each call with what it was sent. O(calls × blocks of a view).

    A message is logged in pieces now and then: neighbouring messages of results are one where the provider takes a whole
    batch in one. What no call ever saw is in none: a call that is open at the end of the file was not sent.
    """
    known = {message.seq: message for message in messages}
    blocks = {block.id: block for message in known.values() for block in message.blocks}
    begin, end = defaultdict[int, list[Shown]](list), defaultdict[int, list[Shown]](list)
    for span in spans:
        begin[span.from_call].append(span)
        if span.to_call is not None:
            end[span.to_call].append(span)
    view: list[Shown] = []
    for call in calls:
        for span in end[call]:
            del view[bisect_left(view, span.position, key=_position)]
        for span in begin[call]:
            insort(view, span, key=_position)
        yield call, tuple(_merged(_turns(view, known, blocks), rules))


def breaches_of_lane(history: History, messages: Iterable[Message], rules: ProviderRules) -> tuple[tuple[int, Breach], ...]:
    """What the prompts of a recorded lane break, each breach once, with the first call that has it."""
    calls = [call.n for call in history.calls]
    return tuple(breaches_of_calls(prompts_of(history.spans, calls, messages, rules), rules))


def breaches_of_prompt(messages: Iterable[Message], rules: ProviderRules) -> tuple[Breach, ...]:
    """What one prompt breaks, given as the messages that a call was sent."""
    return breaches(tuple(_merged(turns_of(messages), rules)), rules)


def _turns(view: Iterable[Shown], messages: Mapping[int, Message], blocks: Mapping[BlockId, Block]) -> Iterator[Turn]:
    for seq, spans in groupby(view, key=lambda span: span.block.seq):
        yield Turn(messages[seq].role, tuple([blocks[span.block] for span in spans]))


def _merged(turns: Iterable[Turn], rules: ProviderRules) -> Iterator[Turn]:
    """Neighbouring messages that only hold results, as one where the rules ask for one."""
    last: Turn | None = None
    for turn in turns:
        if last is not None and rules.one_message and last.role == turn.role and _only_results(last) and _only_results(turn):
            last = Turn(last.role, (*last.blocks, *turn.blocks))
            continue
        if last is not None:
            yield last
        last = turn
    if last is not None:
        yield last


def _only_results(turn: Turn) -> bool:
    return all(block.kind == "tool_result" for block in turn.blocks)


_position = attrgetter("position")
