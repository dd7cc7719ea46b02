"""How the prompt of one call differs from that of another, block by block.

Most spans cover both calls and are never looked at; what is left is compared by place, state and estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxweb.models import Span
from ctxweb.queries.readable import Lane


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A span of the other call whose block this one does not hold."""

    pk: int
    seq: int
    i: int
    position: float
    estimate: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """`added` and `changed` are keys of spans of this call, `left` spans of the other one in the order of its prompt."""

    added: frozenset[int]
    added_tokens: int
    changed: frozenset[int]
    left: tuple[Gone, ...]

    @property
    def left_tokens(self) -> int:
        return sum(gone.estimate for gone in self.left)

    def since(self, pk: int | None) -> str:
        """What the span of key `pk` is against the other call; one without a key was in no prompt yet."""
        if pk is None or pk in self.added:
            return "added"
        return "changed" if pk in self.changed else "unchanged"


def difference(*, lane: Lane, n: int, against: int) -> Difference:
    """Of call `n` from call `against`."""
    here, there = _only_at(lane, n, against), _only_at(lane, against, n)
    added = {row for place, row in here.items() if place not in there}
    changed = {row for place, row in here.items() if place in there and row.differs_from(there[place])}
    left = [
        Gone(pk=row.pk, seq=seq, i=i, position=row.position, estimate=row.estimate)
        for (seq, i), row in there.items()
        if (seq, i) not in here
    ]
    return Difference(
        added=frozenset(row.pk for row in added),
        added_tokens=sum(row.estimate for row in added),
        changed=frozenset(row.pk for row in changed),
        left=tuple(sorted(left, key=lambda gone: (gone.position, gone.pk))),
    )


@dataclass(frozen=True, slots=True)
class _Row:
    pk: int
    state: str
    estimate: int
    position: float

    def differs_from(self, other: _Row) -> bool:
        return (self.state, self.estimate) != (other.state, other.estimate)


def _only_at(lane: Lane, n: int, m: int) -> dict[tuple[int, int], _Row]:
    """The spans of call `n` that do not cover call `m` too, by place."""
    spans = Span.objects.filter(history=lane.history, from_call__lte=n, to_call__gt=n).exclude(from_call__lte=m, to_call__gt=m)
    rows = spans.order_by().values_list("seq", "i", "pk", "state", "estimate", "position")
    return {(seq, i): _Row(pk, state, estimate, position) for seq, i, pk, state, estimate, position in rows}
