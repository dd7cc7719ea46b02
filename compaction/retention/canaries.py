"""Planted canaries: sentences that stand nowhere else, put into a range to test what a summarizer carries.

The same seed always plants the same canaries. They look like what sessions hold, and their names are made up, so that what a
summary says of one cannot come from anywhere else.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from compaction.messages import Block, BlockId, Body
from compaction.retention.retained import Outcome
from compaction.retention.summary_index import SummaryIndex
from compaction.retention.words import is_negated
from compaction.summarizers.quotes import Piece

CanaryKind = Literal["constraint", "path", "identifier", "number", "decision", "task"]
CANARY_KINDS: tuple[CanaryKind, ...] = get_args(CanaryKind)
MOST_CANARIES = 200
PLANTED_SEQ = 0  # of the message of a planted piece: real ones count from 1

_SYLLABLES = ("bra", "del", "fon", "gri", "hul", "kep", "lom", "nar", "pex", "quo", "rud", "siv", "tam", "vok", "wim", "zel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """`sentence` is planted, `key` must come back; `denied`: it says that something must not be. `place`: 0 the start of the range … 1."""

    id: str
    kind: CanaryKind
    sentence: str
    key: str
    denied: bool
    place: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryFate:
    """What became of a canary in a summary. `line`: from 1, None where it is lost."""

    canary: Canary
    outcome: Outcome
    line: int | None


def canaries(seed: str, count: int) -> tuple[Canary, ...]:
    """So many canaries (at most MOST_CANARIES), kinds in turn, evenly over the range."""
    wanted = max(0, min(count, MOST_CANARIES))
    return tuple(_canary(seed, number, (number + 0.5) / wanted) for number in range(wanted))


def planted(pieces: Sequence[Piece], put: Sequence[Canary]) -> tuple[Piece, ...]:
    """The range with the canaries in it, each as a short message of the user."""
    after: dict[int, list[Piece]] = {}
    for number, canary in enumerate(put, start=1):
        block = Block(id=BlockId(PLANTED_SEQ, number), kind="text", body=Body.of(canary.sentence))
        after.setdefault(_before_result(pieces, round(canary.place * len(pieces))), []).append(
            Piece("user", "human", block, canary.sentence)
        )
    return tuple(one for place in range(len(pieces) + 1) for one in (*after.get(place, ()), *pieces[place : place + 1]))


def canary_fates(put: Sequence[Canary], summary: str) -> tuple[CanaryFate, ...]:
    """Kept: its key stands there, and what must not be is still denied; changed: the key without the denial; lost: no key."""
    index = SummaryIndex.of(summary)
    return tuple(_fate(canary, index) for canary in put)


def kept_shares(fates: Sequence[CanaryFate]) -> Mapping[CanaryKind, float]:
    """The share of kept canaries of each kind that was planted."""
    by_kind = {kind: [fate.outcome == "kept" for fate in fates if fate.canary.kind == kind] for kind in CANARY_KINDS}
    return {kind: sum(kept) / len(kept) for kind, kept in by_kind.items() if kept}


def _fate(canary: Canary, index: SummaryIndex) -> CanaryFate:
    line = index.line_of(canary.key)
    if line is None:
        return CanaryFate(canary=canary, outcome="lost", line=None)
    there = "\n".join(index.lines[max(0, line - 2) : line + 1])
    denied = is_negated(there) or re.search(r"\b(?:only|must)\b", there, re.IGNORECASE) is not None
    return CanaryFate(canary=canary, outcome="kept" if denied or not canary.denied else "changed", line=line)


def _before_result(pieces: Sequence[Piece], place: int) -> int:
    """A place at which no result is torn from its call."""
    while 0 < place < len(pieces) and pieces[place].block.kind == "tool_result":
        place -= 1
    return place


def _canary(seed: str, number: int, place: float) -> Canary:
    digest = hashlib.sha256(f"{seed}:{number}".encode()).digest()
    first, second = _word(digest[:3]), _word(digest[3:6])
    figure = 10_007 + int.from_bytes(digest[6:8], "big") % 80_000
    kind = CANARY_KINDS[number % len(CANARY_KINDS)]
    sentence, key = {
        "constraint": (f"Never send anything to the {first} {second} queue.", f"{first} {second}"),
        "path": (f"The limits stand in config/{first}/{second}.toml, read them there.", f"{first}/{second}.toml"),
        "identifier": (f"The flag is called {first}_{second}_mode and it is on.", f"{first}_{second}_mode"),
        "number": (f"The {first} service listens on port {figure}.", str(figure)),
        "decision": (f"We decided to go with the {first}{second} format for all exports.", f"{first}{second}"),
        "task": (f"Still to do: ask {first.title()} {second.title()} about the licence.", f"{first} {second}"),
    }[kind]
    return Canary(
        id=f"canary-{hashlib.sha256(sentence.encode()).hexdigest()[:8]}",
        kind=kind,
        sentence=sentence,
        key=key,
        denied=kind == "constraint",
        place=place,
    )


def _word(digest: bytes) -> str:
    return "".join(_SYLLABLES[byte % len(_SYLLABLES)] for byte in digest)
