"""What a summary says for sure that its range said with doubt, and what it says that stands nowhere in the range."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compaction.messages import BlockId
from compaction.retention.items import said, speaker
from compaction.retention.names import Name, base_name, names
from compaction.retention.sentences import Sentence, hedged_clause, is_hedged, sentences
from compaction.retention.summary_index import SummaryIndex
from compaction.retention.words import all_stems, content
from compaction.summarizers.quotes import Piece, ends, quoted

LEAST_WORDS = 5  # of a sentence that is compared
LEAST_DOUBTFUL = 4  # of a clause that is in doubt
SAME_SHARE = 0.75  # of the words of a doubtful sentence in one line of the summary: it stands there
STRANGE_SHARE = 0.5  # of the words of a sentence that stand nowhere in the range: a claim without words in it
MOST_FOUND = 200  # findings of each kind
MOST_RANGE_CHARS = 20_000_000  # of a range that are read

_FRAME = re.compile(
    r"This session is being continued|The summary below covers|If you need specific details from before compaction"
    r"|This is an automatically generated checkpoint|Treat the captured context as established|Continue the task directly from the messages"
    r"|Please continue the conversation from where|The conversation is summarized below|Another language model started to solve"
)
"""What a harness writes around a summary: no claim of its model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unhedged:
    """A doubtful sentence of the range, in block `block`, that stands in line `line` of the summary (from 1) without the doubt."""

    said: str
    block: BlockId
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfounded:
    """A sentence of the summary without words in the range: `names` that the range does not hold, `strangers` of its words."""

    text: str
    line: int
    names: tuple[str, ...]
    strangers: int


def unhedged(pieces: Sequence[Piece], summary: str) -> tuple[Unhedged, ...]:
    """The sentences that lost their doubt, unless the range itself says them without doubt elsewhere."""
    index = SummaryIndex.of(summary)
    doubtful, certain = _told(pieces)
    found: dict[int, Unhedged] = {}
    for sentence, block in doubtful:
        words = content(hedged_clause(sentence.text))
        place = index.best_line(words) if len(words) >= LEAST_DOUBTFUL else None
        if place is None or place.line in found or len(words & index.content[place.line - 1]) < SAME_SHARE * len(words):
            continue
        there = "\n".join(index.lines[place.line - 1 : place.line + 1])
        if not is_hedged(there) and not _said_for_sure(words, certain):
            found[place.line] = Unhedged(said=quoted(sentence.text), block=block, line=place.line)
    return tuple(found.values())[:MOST_FOUND]


def unfounded(pieces: Sequence[Piece], summary: str) -> tuple[Unfounded, ...]:
    """The sentences of the summary that hold a name, or mostly words, of which the range knows nothing."""
    known = _Known.of(pieces)
    found = (_judged(sentence, known) for sentence in sentences(summary) if not _FRAME.match(sentence.text))
    return tuple(one for one in found if one is not None)[:MOST_FOUND]


def _told(pieces: Sequence[Piece]) -> tuple[list[tuple[Sentence, BlockId]], Mapping[str, list[frozenset[str]]]]:
    """The doubtful sentences of users and agents, and the words of all others by their words."""
    doubtful: list[tuple[Sentence, BlockId]] = []
    certain: dict[str, list[frozenset[str]]] = defaultdict(list)
    for piece in pieces:
        if piece.block.kind != "text" or speaker(piece) not in ("user", "agent"):
            continue
        for sentence in sentences(said(piece)):
            if is_hedged(sentence.text):
                doubtful.append((sentence, piece.block.id))
            else:
                words = content(sentence.text)
                if len(words) >= LEAST_WORDS:
                    for word in words:
                        certain[word].append(words)
    return doubtful, certain


def _said_for_sure(words: frozenset[str], certain: Mapping[str, list[frozenset[str]]]) -> bool:
    rarest = min(words, key=lambda word: (len(certain.get(word, ())) or len(certain) + 1, word))
    return any(len(words & other) >= SAME_SHARE * len(words) for other in certain.get(rarest, ()))


@dataclass(frozen=True, slots=True)
class _Known:
    """All that a range holds: its text in lower case, and its words."""

    text: str
    words: frozenset[str]

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> _Known:
        parts: list[str] = []
        room = MOST_RANGE_CHARS
        for piece in pieces:
            parts.append(piece.text if len(piece.text) <= room else ends(piece.text))
            room -= min(room, len(parts[-1]))
        text = "\n".join(parts)
        return cls(text.lower(), frozenset(all_stems(text)))

    def holds(self, name: Name) -> bool:
        """Whether a name stands in the range: of a path its last part is enough."""
        key = base_name(name.text) if name.kind == "path" else name.key
        return key.lower() in self.text or (name.kind == "number" and key.replace(",", "") in self.text)


def _judged(sentence: Sentence, known: _Known) -> Unfounded | None:
    strange = tuple(dict.fromkeys(name.text for name in names(sentence.text) if not known.holds(name)))
    words = content(sentence.text)
    strangers = len(words - known.words)
    if not strange and (len(words) < LEAST_WORDS or strangers < STRANGE_SHARE * len(words)):
        return None
    return Unfounded(text=quoted(sentence.text), line=sentence.line, names=strange, strangers=strangers)
