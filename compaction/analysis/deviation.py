"""How far a program's own estimate is from exact tokens, by language and kind of content.

A unit of characters a token is right for one kind of text and wrong for another; a limit in it is then another limit. The
figures here are of the texts that they were measured on, and of one public tokenizer, never of a provider.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, get_args

from compaction.content_kinds import content_kind
from compaction.counters.sizes import TextSizes, text_sizes
from compaction.counters.units import UNITS, Unit
from compaction.messages import Block, BlockId, Body

TextGroup = Literal["English", "Chinese", "JSON", "code", "logs"]
TEXT_GROUPS: tuple[TextGroup, ...] = get_args(TextGroup)

CHINESE_SHARE = 0.2  # of a text's first characters: a Chinese text holds names and blanks too
JUDGED_CHARS = 4_096
LEAST_TOKENS = 8  # a shorter text says more about rounding than about a unit

_Counted = tuple[str, int, TextSizes]  # a text, its exact tokens, its lengths


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One unit over the texts of one group.

    `median`, `low` and `high` are own ÷ exact of single texts: the middle one, and those that a tenth lies below or above.
    `own` and `exact` are sums, so `pooled` is what a whole prompt of such texts is off by. For a unit of characters the
    ratios are characters a token.
    """

    group: str
    unit: str
    title: str
    of: Literal["tokens", "characters"]
    texts: int
    own: int
    exact: int
    median: float
    low: float
    high: float

    @property
    def pooled(self) -> float:
        """The sum of the own figures ÷ the sum of the exact ones."""
        return self.own / self.exact


def group_of(text: str) -> TextGroup:
    """The group of a text, by a guess at its head."""
    kind = content_kind(text)
    if kind == "json":
        return "JSON"
    if kind in ("file", "diff"):
        return "code"
    if kind in ("log", "listing"):
        return "logs"
    head = text[:JUDGED_CHARS]
    chinese = 0 if head.isascii() else sum("\u4e00" <= char <= "\u9fff" for char in head)
    return "Chinese" if chinese > CHINESE_SHARE * len(head) else "English"


def grouped(texts: Iterable[str]) -> dict[str, list[str]]:
    """Texts by their groups, in the order of TEXT_GROUPS; a group without texts is left out."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(group_of(text), []).append(text)
    return {group: groups[group] for group in TEXT_GROUPS if group in groups}


def deviations(groups: Mapping[str, Iterable[str]], count: Callable[[str], int], *, units: Sequence[Unit] = UNITS) -> tuple[Deviation, ...]:
    """Own ÷ exact for each group and unit. `count` is the exact count; each text is measured once.

    Texts are priced as the plain text of a message, without what the message costs. Those of fewer than LEAST_TOKENS tokens
    are left out, and so is a group without any other, and the exact unit itself.
    """
    found: list[Deviation] = []
    for group, texts in groups.items():
        counted = [(text, tokens, text_sizes(text)) for text in texts if (tokens := count(text)) >= LEAST_TOKENS]
        found += [_deviation(group, unit, counted) for unit in units if counted and unit.id != "exact"]
    return tuple(found)


def _deviation(group: str, unit: Unit, counted: Sequence[_Counted]) -> Deviation:
    prices = [_price(unit, *each) for each in counted]
    ratios = sorted(own / tokens for own, (_, tokens, _) in zip(prices, counted, strict=True))
    return Deviation(
        group=group,
        unit=unit.id,
        title=unit.title,
        of=unit.of,
        texts=len(ratios),
        own=sum(prices),
        exact=sum(tokens for _, tokens, _ in counted),
        median=median(ratios),
        low=ratios[(len(ratios) - 1) // 10],
        high=ratios[len(ratios) - 1 - (len(ratios) - 1) // 10],
    )


def _price(unit: Unit, text: str, tokens: int, sizes: TextSizes) -> int:
    block = Block(id=BlockId(1, 1), kind="text", body=Body.of(text))
    return unit.block(block, sizes, tokens, "text")
