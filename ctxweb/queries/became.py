"""What became of the blocks of a lane: how many tokens are still visible, and which edit took the others."""

from __future__ import annotations

from dataclasses import dataclass

from ctxweb.charts.bars import Part, share_bar
from ctxweb.models import Block, History
from ctxweb.queries.readout import names_of

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


def became(*, history: History) -> Became:
    """Of all blocks that were in a prompt or left before one, as the import has summed them up; and the largest that left."""
    sums = {end: (blocks, tokens) for end, blocks, tokens in history.bins.get("endings", ())}
    endings = tuple(
        Ending(word=word, fill=fill, blocks=sums[end][0], tokens=sums[end][1]) for end, (word, fill) in _ENDS.items() if end in sums
    )
    return Became(
        bar=share_bar([(ending.fill, ending.tokens) for ending in endings]),
        endings=endings,
        largest=_largest(revision_id=history.revision_id, places=[(seq, i) for seq, i in history.bins.get("left", ())]),
    )


def _largest(*, revision_id: int, places: list[tuple[int, int]]) -> tuple[LeftBlock, ...]:
    found = Block.objects.filter(revision_id=revision_id, seq__in=[seq for seq, _ in places])
    rows = {(block.seq, block.i): block for block in found}
    names = names_of(revision_id=revision_id, places=places)
    largest = []
    for seq, i in places:
        block = rows[seq, i]
        largest.append(
            LeftBlock(
                seq=seq,
                i=i,
                name=names.get((seq, i)) or block.kind.replace("_", " "),
                estimate=block.estimate or 0,
                first=block.first_call or 0,
                last=block.last_call,
                action=block.end,
            )
        )
    return tuple(largest)
