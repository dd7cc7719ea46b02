"""Where a summary says otherwise than the durable state of its session.

The durable state is right: a contradiction tells a person to look, it changes nothing. Four rules find them: another choice of
a kind of which one thing has one (`CHOICES`), another figure beside the same words, what is denied on one side only, and a
pending item that is said to be done.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from compaction.durable.values import DurableContextState
from compaction.retention.choices import ABOUT, chosen
from compaction.retention.sentences import Sentence, is_hedged, sentences
from compaction.retention.words import content, is_negated, stem

ContradictionKind = Literal["other_choice", "other_figure", "denied", "said_done"]

SAME_SHARE = 0.6  # of the words of a durable item in a sentence: both are about one thing
FIGURE_SHARE = 0.75  # of the words of a fact beside its figures, where a sentence has other figures
LEAST_SHARED = 2
FEW_WORDS = 2  # beside its choice; such a fact may be about any purpose
MOST_SENTENCES = 5_000  # of a summary that are compared
MOST_PAIRS = 1_000_000  # of an item and a sentence: with more items fewer sentences are
MOST_QUOTE_CHARS = 240


_DONE = re.compile(r"\b(?:completed?|done|finished|fixed|implemented|resolved|closed|shipped)\b|✅|✓|\[x\]|已完成|完成了", re.IGNORECASE)
_NOT_DONE = re.compile(
    r"\b(?:not|never|pending|todo|remain\w*|still|partly|partially|half|blocked|to be|open)\b|\[ \]|未|待", re.IGNORECASE
)
_FIGURE = re.compile(r"(?P<before>[A-Za-z]+)[ :=#]{1,3}(?P<figure>\d[\d.,_]*)|(?P<number>\d[\d.,_]*) ?(?P<unit>%|[A-Za-z]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """`item`: the id of a fact or a pending item; `says`: what it says; `summary`: what line `line` (from 1) says instead."""

    kind: ContradictionKind
    domain: Literal["facts", "pending_items"]
    item: str
    says: str
    summary: str
    line: int


def contradictions(summary: str, state: DurableContextState) -> tuple[Contradiction, ...]:
    """The places where the summary says otherwise, by fact and item in the order of the state."""
    told = [_Told.of(sentence) for sentence, _ in zip(sentences(summary), range(most_sentences(state)), strict=False)]
    found: list[Contradiction] = []
    for fact in state.facts:
        one = _Told.of(Sentence(fact.content, 0))
        found += (
            Contradiction(kind=kind, domain="facts", item=fact.fact_id, says=says, summary=_short(other.text), line=other.line)
            for kind, says, other in _against(one, told)
        )
    for item in state.pending_items:
        if item.status != "done":
            one = _Told.of(Sentence(item.description, 0))
            found += (
                Contradiction(
                    kind="said_done",
                    domain="pending_items",
                    item=item.item_id,
                    says=item.status,
                    summary=_short(other.text),
                    line=other.line,
                )
                for other in told
                if one.shares(other) and _DONE.search(other.text) and not _NOT_DONE.search(other.text)
            )
    return tuple(found)


def most_sentences(state: DurableContextState) -> int:
    """How many sentences of a summary are compared with so many items, the first ones."""
    return min(MOST_SENTENCES, MOST_PAIRS // max(1, len(state.facts) + len(state.pending_items)))


@dataclass(frozen=True, slots=True)
class _Told:
    """A sentence with all that the rules ask of it. `options` are, by the place of a choice, those that it names."""

    text: str
    line: int
    words: frozenset[str]
    options: dict[int, frozenset[str]]
    negated: bool
    hedged: bool
    figures: dict[str, str]

    @classmethod
    def of(cls, sentence: Sentence) -> _Told:
        text = sentence.text
        return cls(text, sentence.line, content(text), chosen(text), is_negated(text), hedged=is_hedged(text), figures=dict(_figures(text)))

    def shares(self, other: _Told) -> bool:
        """Whether the other sentence holds most of the words of this one."""
        shared = len(self.words & other.words)
        return shared >= LEAST_SHARED and shared >= SAME_SHARE * len(self.words)


def _against(fact: _Told, told: Iterable[_Told]) -> Iterator[tuple[ContradictionKind, str, _Told]]:
    for other in told:
        chosen = _other_choice(fact, other)
        if chosen:
            yield "other_choice", chosen, other
        elif other.hedged:
            continue
        elif fact.shares(other) and fact.negated != other.negated:
            yield "denied", _short(fact.text), other
        elif other_figure := _other_figure(fact, other):
            yield "other_figure", other_figure, other


def _other_choice(fact: _Told, other: _Told) -> str:
    """What the fact names of a choice of which the sentence names another one for the same purpose; "" where there is none."""
    if fact.negated or other.negated:
        return ""
    for place, ours in fact.options.items():
        theirs = other.options.get(place, ours)
        if ours & theirs:
            continue
        named = frozenset(stem(word) for option in ours | theirs for word in option.split())
        if len(fact.words & other.words - named) >= LEAST_SHARED or _same_purpose(place, fact.words - named, other.words):
            return ", ".join(sorted(ours))
    return ""


def _same_purpose(place: int, fact_words: frozenset[str], words: frozenset[str]) -> bool:
    """Whether both name the purpose of a choice, or the sentence does and the fact says little but its choice."""
    return bool(ABOUT[place] & words) and (bool(ABOUT[place] & fact_words) or len(fact_words) <= FEW_WORDS)


def _other_figure(fact: _Told, other: _Told) -> str:
    """A figure of the fact beside whose word the sentence has another one, where both are about one thing; "" where there is none."""
    if not fact.figures or not other.figures:
        return ""
    subject = frozenset(word for word in fact.words if not word.isdigit())
    if len(subject & other.words) < max(LEAST_SHARED, FIGURE_SHARE * len(subject)):
        return ""
    for beside, figure in _figures(fact.text):
        if beside in other.figures and figure not in other.figures.values():
            return f"{beside} {figure}"
    return ""


def _figures(text: str) -> Iterator[tuple[str, str]]:
    """Each figure with the word before it or the unit after it."""
    for match in _FIGURE.finditer(text):
        word, figure = (match["before"], match["figure"]) if match["before"] else (match["unit"], match["number"])
        yield stem(word), figure.rstrip(".,_").replace(",", "").replace("_", "")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_QUOTE_CHARS else f"{line[: MOST_QUOTE_CHARS - 1]}…"
