"""What is found in a checkpoint, as values that can be kept as JSON and read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from compaction.containment import Objection, objections
from compaction.messages import BlockId
from compaction.retention.assertions import unfounded, unhedged
from compaction.retention.items import ITEM_KINDS
from compaction.retention.retained import OUTCOMES, Retained, retention_of, urgency
from ctxweb.checkpoints.ranges import RangeText

VERSION = 1  # of all that is computed here: another one makes what was kept void
LEAST_ITEMS = 10  # from which on a share says something
LOW_SHARE = 0.2  # of the items: what keeps less has kept almost nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFound:
    """An item of the range and what became of it. `places`: blocks where it was said; `call`: the first one that held the last of
    them; `line` (from 1) of the checkpoint, None where it is lost."""

    id: str
    kind: str
    text: str
    by: str
    uses: int
    places: tuple[str, ...]
    call: int | None
    outcome: str
    line: int | None
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtFound:
    """A doubt of the range, said in block `block`, that line `line` of the checkpoint does not have."""

    said: str
    block: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFound:
    """A sentence of the checkpoint without words in the range: `names` that it does not hold, `strangers` of its words."""

    text: str
    line: int
    names: tuple[str, ...]
    strangers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectionFound:
    """What containment has against a checkpoint (compaction.containment)."""

    code: str
    grave: bool
    line: int | None
    words: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """`items`: the lost ones first, those that are missed most in front; then what changed, then what was kept, by their uses.
    `blocks_left_out` of the range, `items_left_out` and `chars_left_out` of the text were too much to be read. `range_tokens`: exact."""

    items: tuple[ItemFound, ...]
    doubts: tuple[DoubtFound, ...]
    claims: tuple[ClaimFound, ...]
    objections: tuple[ObjectionFound, ...]
    range_tokens: int | None
    blocks_left_out: int
    items_left_out: int
    chars_left_out: int


NOTHING_FOUND = Findings(
    items=(), doubts=(), claims=(), objections=(), range_tokens=None, blocks_left_out=0, items_left_out=0, chars_left_out=0
)
"""Of a checkpoint whose text or range cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The findings in numbers: by kind of item and outcome, and how many of each other sort; `grave` of the objections."""

    counts: Mapping[str, Mapping[str, int]]
    doubts: int
    claims: int
    objections: int
    grave: int
    range_tokens: int | None
    left_out: int

    def of(self, outcome: str) -> int:
        """How many items came to this."""
        return sum(count[outcome] for count in self.counts.values())

    @property
    def kept(self) -> int:
        return self.of("kept")

    @property
    def changed(self) -> int:
        return self.of("changed")

    @property
    def lost(self) -> int:
        return self.of("lost")

    @property
    def items(self) -> int:
        """All items that the user or the agent used."""
        return sum(map(self.of, OUTCOMES))

    @property
    def share(self) -> float | None:
        """Of the items those that are kept, 0 … 1; None without any."""
        return self.kept / self.items if self.items else None

    @property
    def is_low(self) -> bool:
        """Whether it kept almost nothing of a range that held something."""
        return self.items >= LEAST_ITEMS and (self.share or 0.0) < LOW_SHARE


def findings_of(text: RangeText, summary: str) -> Findings:
    """All that rules find in the checkpoint of a range."""
    found = retention_of(text.pieces, summary)
    return Findings(
        items=tuple(_item(one, text.calls) for one in sorted(found.items, key=_order)),
        doubts=tuple(DoubtFound(said=one.said, block=str(one.block), line=one.line) for one in unhedged(text.pieces, summary)),
        claims=tuple(ClaimFound(**asdict(one)) for one in unfounded(text.pieces, summary)),
        objections=tuple(map(_objection, objections(summary, text.pieces, expected=()))),
        range_tokens=text.tokens,
        blocks_left_out=text.left_out,
        items_left_out=found.items_left_out,
        chars_left_out=found.summary_chars_left_out,
    )


def figures_of(findings: Findings) -> Figures:
    every = Counter((one.kind, one.outcome) for one in findings.items)
    present = [kind for kind in ITEM_KINDS if any(every[kind, outcome] for outcome in OUTCOMES)]
    return Figures(
        counts={kind: {outcome: every[kind, outcome] for outcome in OUTCOMES} for kind in present},
        doubts=len(findings.doubts),
        claims=len(findings.claims),
        objections=len(findings.objections),
        grave=sum(one.grave for one in findings.objections),
        range_tokens=findings.range_tokens,
        left_out=findings.blocks_left_out + findings.items_left_out + (findings.chars_left_out > 0),
    )


def findings_from(data: Mapping[str, Any]) -> Findings:
    """What was kept of them."""
    return Findings(
        **{
            **data,
            "items": tuple(ItemFound(**{**one, "places": tuple(one["places"])}) for one in data["items"]),
            "doubts": tuple(DoubtFound(**one) for one in data["doubts"]),
            "claims": tuple(ClaimFound(**{**one, "names": tuple(one["names"])}) for one in data["claims"]),
            "objections": tuple(ObjectionFound(**one) for one in data["objections"]),
        }
    )


def _item(one: Retained, calls: Mapping[BlockId, int | None]) -> ItemFound:
    item = one.item
    return ItemFound(
        id=item.id,
        kind=item.kind,
        text=item.text,
        by=item.by,
        uses=item.uses,
        places=tuple(map(str, item.places)),
        call=calls.get(item.places[-1]),
        outcome=one.outcome,
        line=one.line,
        how=one.how,
    )


def _order(one: Retained) -> tuple[Any, ...]:
    rank = {"lost": 0, "changed": 1, "kept": 2}[one.outcome]
    return (rank, *urgency(one.item)) if rank == 0 else (rank, -one.item.uses, -one.item.last, one.item.id)


def _objection(one: Objection) -> ObjectionFound:
    return ObjectionFound(**asdict(one))
