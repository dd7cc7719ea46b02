"""In which calls blocks were visible, and in which state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ctxweb.models import Span
from ctxweb.queries.readable import Lane

Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeSpan:
    """A block in one state, visible in the calls `from_call` … `to_call` − 1; `to_call` is None while it is visible."""

    state: str
    from_call: int
    to_call: int | None
    estimate: int


def lives(*, lane: Lane, places: Iterable[Place]) -> dict[Place, tuple[LifeSpan, ...]]:
    """The spans of each block of `places` that some call saw, in order."""
    wanted = set(places)
    rows = Span.objects.filter(history=lane.history, seq__in={seq for seq, _ in wanted}, from_call__lte=lane.session.call_count)
    found: dict[Place, tuple[LifeSpan, ...]] = {}
    for row in rows.order_by("from_call").values_list("seq", "i", "state", "from_call", "to_call", "estimate"):
        seq, i, state, from_call, to_call, estimate = row
        if (seq, i) in wanted:
            ended = None if to_call == Span.STILL_VISIBLE else to_call
            span = LifeSpan(state=state, from_call=from_call, to_call=ended, estimate=estimate)
            found[seq, i] = (*found.get((seq, i), ()), span)
    return found
