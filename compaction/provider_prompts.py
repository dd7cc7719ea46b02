"""What each call of a lane was sent, as the messages of its provider, for the rules of `compaction.protocol_rules`."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter

from compaction.history import History, Span
from compaction.messages import Block, BlockId, Message
from compaction.protocol_rules import Breach, ProviderRules, Turn, breaches_of_calls

Prompt = tuple[int, tuple[Turn, ...]]


def prompts_of(history: History, messages: Iterable[Message], rules: ProviderRules) -> Iterator[Prompt]:
    """The number of each call with what it was sent. O(calls × blocks of a view).

    A message is logged in pieces now and then: neighbouring messages of results are one where the provider takes a whole
    batch in one. What no call ever saw is in none: a call that is open at the end of the file was not sent.
    """
    known = {message.seq: message for message in messages}
    blocks = {block.id: block for message in known.values() for block in message.blocks}
    begin, end = defaultdict[int, list[Span]](list), defaultdict[int, list[Span]](list)
    for span in history.spans:
        begin[span.from_call].append(span)
        if span.to_call is not None:
            end[span.to_call].append(span)
    view: list[Span] = []
    for call in history.calls:
        for span in end[call.n]:
            del view[bisect_left(view, span.position, key=_position)]
        for span in begin[call.n]:
            insort(view, span, key=_position)
        yield call.n, tuple(_merged(_turns(view, known, blocks), rules))


def breaches_of_lane(history: History, messages: Iterable[Message], rules: ProviderRules) -> tuple[tuple[int, Breach], ...]:
    """What the prompts of a recorded lane break, each breach once, with the first call that has it."""
    return tuple(breaches_of_calls(prompts_of(history, messages, rules), rules))


def _turns(view: Iterable[Span], messages: Mapping[int, Message], blocks: Mapping[BlockId, Block]) -> Iterator[Turn]:
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
