"""What became of the blocks of a lane: how many tokens are still visible, and which edit took the others."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Sum

from ctxweb.charts.bars import Part, share_bar
from ctxweb.models import Block
from ctxweb.queries.readout import names_of
from ctxweb.vocabulary import ACTIONS

LARGEST = 7
_ENDS = {  # end of a block: what to say of it, its colour class
    "visible": ("still visible", "f-kept"),
    "never_sent": ("never sent", "k-overhead"),
    **{name: (word, f"e-{name}") for name, word in (
        ("summarise", "summarised"),
        ("clear", "cleared"),
        ("truncate", "truncated"),
        ("replace", "replaced"),
        ("spill", "stored outside"),
        ("remove", "removed"),
    )},
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Blocks that ended one way: their number and the sum of their estimates, each block counted once."""

    word: str
    fill: str
    blocks: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBlock:
    seq: int
    i: int
    name: str
    estimate: int
    first: int
    last: int | None
    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Became:
    bar: tuple[Part, ...]
    endings: tuple[Ending, ...]
    largest: tuple[LeftBlock, ...]


def became(*, revision_id: int) -> Became:
    """Sums over all blocks that were in a prompt or left before one, and the largest that left."""
    sums = {
        end: (blocks, tokens or 0)
        for end, blocks, tokens in Block.objects.filter(revision_id=revision_id, end__in=list(_ENDS))
        .order_by()
        .values("end")
        .annotate(blocks=Count("pk"), tokens=Sum("estimate"))
        .values_list("end", "blocks", "tokens")
    }
    endings = tuple(
        Ending(word=word, fill=fill, blocks=sums[end][0], tokens=sums[end][1]) for end, (word, fill) in _ENDS.items() if end in sums
    )
    return Became(
        bar=share_bar([(ending.fill, ending.tokens) for ending in endings]), endings=endings, largest=_largest(revision_id=revision_id)
    )


def _largest(*, revision_id: int) -> tuple[LeftBlock, ...]:
    rows = list(
        Block.objects.filter(revision_id=revision_id, end__in=[end for end in _ENDS if end in ACTIONS], first_call__isnull=False)
        .order_by("-estimate", "seq", "i")[:LARGEST]
        .values_list("seq", "i", "estimate", "first_call", "last_call", "end", "kind")
    )
    names = names_of(revision_id=revision_id, places=[(seq, i) for seq, i, *_ in rows])
    return tuple(
        LeftBlock(
            seq=seq,
            i=i,
            name=names.get((seq, i)) or kind.replace("_", " "),
            estimate=estimate or 0,
            first=first or 0,
            last=last,
            action=end,
        )
        for seq, i, estimate, first, last, end, kind in rows
    )
