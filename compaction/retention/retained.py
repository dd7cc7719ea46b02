"""What became of each item of a range in its summary: kept, changed or lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from compaction.retention.items import ITEM_KINDS, Item, ItemKind, items_of
from compaction.retention.names import base_name
from compaction.retention.summary_index import SummaryIndex
from compaction.retention.words import content, is_negated, stem
from compaction.summarizers.quotes import Piece

Outcome = Literal["kept", "changed", "lost"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
How = Literal[
    "as it was", "in other words", "shortened", "by its name", "other folder", "other spelling", "other value", "other address",
    "other figures", "no longer denied", "now denied", "said to be done", "",
]  # fmt: skip

KEPT_SHARE = 0.65  # of the words of a statement in one line or its next: it is kept
PART_SHARE = 0.45  # from this share on it is there, shortened
LEAST_WORDS = 3  # a statement of fewer is looked for as it stands
FEW_SHARES = {3: 1.0, 4: 0.75}  # of a statement of so few words: in a long line a few stand by chance
HASH_CHARS = 7  # of the key of a hash
MOST_LOST = 20  # on the list of what is missed first
RANK: Mapping[ItemKind, int] = {
    "constraint": 0, "task": 1, "request": 2, "fact": 3, "url": 4, "hash": 5, "path": 6, "number": 7, "identifier": 8, "error": 9,
}  # fmt: skip

_DONE = re.compile(r"\b(?:completed|done|finished|fixed|implemented|resolved)\b|✅|✓|\[x\]|已完成|完成了", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:pending|todo|to do|remain\w*|not yet|next|open|in progress|incomplete|still)\b|\[ \]|⏳|待", re.IGNORECASE)
_FIGURES = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """An item and what became of it. `line`: of the summary (from 1), where it stands; None where it is lost."""

    item: Item
    outcome: Outcome
    line: int | None = None
    how: How = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Each item of the range once. `left_out`: items and characters that were too many to be looked at."""

    items: tuple[Retained, ...]
    items_left_out: int
    summary_chars_left_out: int

    def of(self, outcome: Outcome, kind: ItemKind | None = None) -> tuple[Retained, ...]:
        """The items with this outcome, of one kind or of all."""
        return tuple(one for one in self.items if one.outcome == outcome and kind in (None, one.item.kind))

    @property
    def counts(self) -> Mapping[ItemKind, Mapping[Outcome, int]]:
        """How many of each kind came to what; kinds of which there are none are left out."""
        every = Counter((one.item.kind, one.outcome) for one in self.items)
        present = [kind for kind in ITEM_KINDS if any(every[kind, outcome] for outcome in OUTCOMES)]
        return {kind: {outcome: every[kind, outcome] for outcome in OUTCOMES} for kind in present}

    @property
    def missed_first(self) -> tuple[Retained, ...]:
        """The lost items that are needed again most likely: statements, then names by their uses and how lately they were used."""
        lost = sorted(self.of("lost"), key=lambda one: urgency(one.item))
        return tuple(lost[:MOST_LOST])


def retention_of(pieces: Sequence[Piece], summary: str) -> Retention:
    """What a summary carries of the range that it stands for."""
    found, index = items_of(pieces), SummaryIndex.of(summary)
    said = frozenset(item.key for item in found.items)
    return Retention(
        items=tuple(retained(item, index, said) for item in found.items),
        items_left_out=found.left_out,
        summary_chars_left_out=index.left_out,
    )


def retained(item: Item, index: SummaryIndex, said: Container[str] = frozenset()) -> Retained:
    """What became of one item in a summary. `said`: the keys of all items; what is one of its own is no other form of this one."""
    if item.kind == "path":
        return _path(item, index, said)
    if item.kind in ("url", "hash", "identifier", "number"):
        return _name(item, index, said)
    return _statement(item, index)


def urgency(item: Item) -> tuple[float | str, ...]:
    """Sorts items by how likely they are needed again, the likeliest first."""
    statement = item.kind in ("constraint", "task")
    return (not statement, -min(item.uses, 5), -item.last, RANK[item.kind], item.id)


def _path(item: Item, index: SummaryIndex, said: Container[str]) -> Retained:
    line = index.line_of(item.key)
    if line is not None:
        return Retained(item=item, outcome="kept", line=line, how="as it was")
    base = base_name(item.text).lower()
    others = index.by_base_name.get(base, ())
    bare = next((line for name, line in others if "/" not in name.text), None) if others else _whole_word(base, index.text)
    if bare is not None:
        return Retained(item=item, outcome="kept", line=bare, how="by its name")
    other = next((line for name, line in others if name.key not in said), None)
    return Retained(item=item, outcome="lost" if other is None else "changed", line=other, how="" if other is None else "other folder")


def _name(item: Item, index: SummaryIndex, said: Container[str]) -> Retained:
    cased = item.kind == "identifier"  # two that differ in their capitals are two
    line = _whole_word(item.key, index.cased) if cased else _whole_word(item.key.lower(), index.text)
    if line is not None:
        return Retained(item=item, outcome="kept", line=line, how="as it was")
    other = {"url": _other_address, "identifier": _other_spelling}.get(item.kind)
    changed = other(item, index, said) if other is not None else None
    if changed is not None:
        return Retained(item=item, outcome="changed", line=changed, how="other address" if item.kind == "url" else "other spelling")
    return Retained(item=item, outcome="lost")


def _whole_word(key: str, text: str) -> int | None:
    """The first line of a text that holds a key which no letter or digit goes on; of a hash the first 7 characters are enough."""
    start = text.find(key)
    while start >= 0:
        around = text[start - 1 : start] + text[start + len(key) : start + len(key) + 1]
        if not any(character.isalnum() for character in around) or len(key) == HASH_CHARS:
            return text.count("\n", 0, start) + 1
        start = text.find(key, start + len(key))
    return None


def _other_address(item: Item, index: SummaryIndex, said: Container[str]) -> int | None:
    host = item.key.partition("/")[0]
    return next((line for name, line in index.names.get("url", ()) if name.key not in said and name.key.partition("/")[0] == host), None)


def _other_spelling(item: Item, index: SummaryIndex, said: Container[str]) -> int | None:
    bare = item.key.replace("_", "").lower()
    others = index.names.get("identifier", ())
    return next((line for name, line in others if name.key not in said and name.key.replace("_", "").lower() == bare), None)


def _statement(item: Item, index: SummaryIndex) -> Retained:
    line = index.line_of(item.key) if len(item.key) >= LEAST_WORDS else None
    words = content(item.text)
    found = index.best_line(words) if line is None and len(words) >= LEAST_WORDS else None
    if line is None and (found is None or found.share < FEW_SHARES.get(len(words), PART_SHARE)):
        return Retained(item=item, outcome="lost")
    at = line if line is not None else found.line if found is not None else 0
    share = found.share if found is not None else 1.0
    how = (_difference(item, index, at) if share >= KEPT_SHARE else "") or _how_much(line, share)
    changed = how not in ("as it was", "in other words")
    return Retained(item=item, outcome="changed" if changed else "kept", line=at, how=how)


def _how_much(line: int | None, share: float) -> How:
    if line is not None:
        return "as it was"
    return "in other words" if share >= KEPT_SHARE else "shortened"


def _difference(item: Item, index: SummaryIndex, line: int) -> How:
    """What a line says otherwise than the item: the state of a task, a denial, a figure."""
    there = "\n".join(index.lines[line - 1 : line + 1])
    if item.kind == "task" and _DONE.search(there) and not _OPEN.search(there):
        return "said to be done"
    if item.kind in ("constraint", "fact"):
        if is_negated(item.text) and not is_negated(there):
            return "no longer denied"
        figures, theirs = set(_FIGURES.findall(item.text)), set(_FIGURES.findall(there))
        if figures and theirs and not figures & theirs and _beside(item.text, figures) & _beside(there, theirs):
            return "other figures"
    return ""


def _beside(text: str, figures: set[str]) -> set[str]:
    """The words that stand before or after the figures."""
    words = re.findall(r"[\w.]+", text)
    near = [words[k + step] for k, word in enumerate(words) if word.strip(".") in figures for step in (-1, 1) if 0 <= k + step < len(words)]
    return {stem(word) for word in near if word.isalpha()}
