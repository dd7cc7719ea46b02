"""What a sentence is about: its content words, cut to stems, so that a statement is known again in other words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

MOST_WORDS = 60  # of a sentence that are looked at
STEM_CHARS = 7
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*|\d+|[\u4e00-\u9fff]+")
_EMPTY_WORDS = (
    "the and for that this with from are was were has have had not but you your our its they them then than into onto out over under "
    "will would can could should shall may might must let lets now also just very too here there what which who whom whose when where why "
    "how all any some each both been being does did doing done get gets got make made use used using one two via per about after before "
    "these those such only own same more most other again once let's it's i'll we'll i'm is it be in on of to as at by an or if so do we "
    "he she me my no yes ok please never cannot none without always"
)
_STOP = frozenset(_EMPTY_WORDS.split())
NEGATION = re.compile(
    r"\b(?:not|never|no|none|without|don't|doesn't|didn't|won't|can't|cannot|mustn't|shouldn't|isn't|aren't|wasn't|avoid|forbidden)\b"
    r"|不|没|禁止",
    re.IGNORECASE,
)
_ENDINGS = ("ations", "ation", "ingly", "ings", "ing", "ies", "ied", "ers", "er", "es", "ed", "ly", "s", "e", "y")
LEAST_STEM = 4
MOST_STEMS = 32_768  # that are remembered


@lru_cache(maxsize=MOST_STEMS)
def stem(word: str) -> str:
    """A word without its ending, in lower case, at most STEM_CHARS characters."""
    word = word.lower()
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= LEAST_STEM:
            word = word[: -len(ending)]
            break
    return word[:STEM_CHARS]


def all_stems(text: str) -> Iterator[str]:
    """The stems of the distinct words of a text in order: words with content, numbers, pairs of Chinese characters."""
    for word in dict.fromkeys(_WORD.findall(text)):
        if word[0] >= "\u4e00":
            yield from (word[place : place + 2] for place in range(max(1, len(word) - 1)))
        elif (len(word) >= 3 and word.lower() not in _STOP) or word.isdigit():
            yield stem(word)


def content(text: str) -> frozenset[str]:
    """The distinct stems of a sentence, the first MOST_WORDS of them."""
    return frozenset(list(dict.fromkeys(all_stems(text)))[:MOST_WORDS])


def is_negated(text: str) -> bool:
    """Whether a sentence says that something is not, or must not be."""
    return NEGATION.search(text) is not None
