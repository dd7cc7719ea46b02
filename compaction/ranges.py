"""Which part of a view a summary may stand for, and which stays: never with a tool call on one side and its result on the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """One message of a view as it counts for a cut: its price, the calls that it makes, the results that it holds."""

    tokens: int
    opens: int = 0
    closes: int = 0


def tail_from(prices: Sequence[int], retain_tokens: int) -> int:
    """Index from which messages of at least `retain_tokens`, and at least one, stand at the end; 0 where all are needed."""
    kept = 0
    for index in range(len(prices) - 1, -1, -1):
        kept += prices[index]
        if kept >= retain_tokens:
            return index
    return 0


def compactable(weights: Sequence[Weight], retain_tokens: int) -> int:
    """How many messages at the head may be summarised; 0 where the cut would have to move to the head itself.

    The tail is `tail_from`; the cut then moves towards the head until no call before it waits for a result after it.
    """
    most, safe, open_calls = tail_from([weight.tokens for weight in weights], retain_tokens), 0, 0
    for index in range(most):
        open_calls = max(0, open_calls + weights[index].opens - weights[index].closes)  # an orphan result closes no other call
        if not open_calls:
            safe = index + 1
    return safe


def without_halves(ids: Sequence[Iterable[str]], start: int, end: int) -> tuple[int, int]:
    """The longest stretch inside the messages `start` to before `end` that splits no interaction; an empty one where there is none.

    `ids` are the tool ids of each message of the view, of calls and of results alike: an id is a pair where it stands twice, and
    an orphan, which binds nothing, where it stands once.
    """
    waiting: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    for place, of_message in enumerate(ids):
        for tool_id in of_message:
            if tool_id in waiting:
                pairs.append((waiting.pop(tool_id), place))
            else:
                waiting[tool_id] = place
    for first, last in sorted(pairs, reverse=True):
        if first < end <= last and start <= last:
            end = max(start, first)
    for first, last in sorted(pairs, key=lambda pair: pair[1]):
        if first < start <= last < end:
            start = last + 1
    return start, max(start, end)
