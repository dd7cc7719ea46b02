"""Sentences of a text with their lines, and whether they say something for sure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MOST_SENTENCES = 20_000  # of a text
MOST_SENTENCE_CHARS = 600
LEAST_CHARS = 12
LEAST_CLAUSE_WORDS = 3

_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_HEDGE = re.compile(
    r"\b(?:may|might|maybe|perhaps|possibly|probably|presumably|apparently|likely|unlikely|seems?|seemingly|appears? to|suspect|guess|"
    r"unsure|not sure|unclear|unverified|unconfirmed|could be|I think|I believe|I assume|assuming|not yet (?:tested|verified|confirmed))\b"
    r"|可能|也许|大概|似乎|或许|不确定|应该是|好像|怀疑",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"\s[-–—]+\s|[;,:()，；：（）]")


class Sentence(NamedTuple):
    """A sentence as it stands, and its line (from 1)."""

    text: str
    line: int


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text, at most MOST_SENTENCES; none runs over a line end. Linear."""
    told = 0
    for number, line in enumerate(text.split("\n"), start=1):
        for part in _END.split(line):
            words = part.strip(" \t-*#>•")
            if len(words) >= LEAST_CHARS:
                yield Sentence(words[:MOST_SENTENCE_CHARS], number)
                told += 1
                if told == MOST_SENTENCES:
                    return


def is_hedged(text: str) -> bool:
    """Whether a sentence says that what it tells is not sure."""
    return _HEDGE.search(text) is not None


def hedged_clause(text: str) -> str:
    """The clause of a sentence that says that it is not sure, with the next one where the doubt stands alone; "" without a doubt."""
    clauses = _CLAUSE.split(text)
    for place, clause in enumerate(clauses):
        if is_hedged(clause):
            alone = len(_HEDGE.sub("", clause).split()) < LEAST_CLAUSE_WORDS
            return " ".join(clauses[place : place + 2]) if alone else clause
    return text if is_hedged(text) else ""
