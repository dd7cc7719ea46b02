"""The middle of a large result leaves: its head, a mark and its tail stay. Lengths are code points.

mini-harness 09 and dsh prune alike; dsh takes the text blocks of a result as one text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compaction.errors import OptionError

PRUNE_MARK = "\n\n[... tool result middle pruned ...]\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneSizes:
    """Texts above `threshold_chars` keep `head_chars` and `tail_chars`. OptionError where that cannot make them shorter."""

    threshold_chars: int = 8192
    head_chars: int = 4096
    tail_chars: int = 1024

    def __post_init__(self) -> None:
        for name, least in (("threshold", 1), ("head", 0), ("tail", 0)):
            value = getattr(self, f"{name}_chars")
            if type(value) is not int or value < least:
                raise OptionError(
                    f"{name}_chars is {value!r}: it must be an integer from {least}", code=f"prune_{name}_invalid", key=f"{name}_chars"
                )
        kept = self.head_chars + len(PRUNE_MARK) + self.tail_chars
        if kept > self.threshold_chars:
            raise OptionError(
                f"head, mark and tail have {kept} characters, the threshold only {self.threshold_chars}: keep less",
                code="prune_sizes_exceed_threshold",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """A text without its middle: what is kept on both sides of the mark."""

    head: str
    tail: str

    @property
    def text(self) -> str:
        """The text as the model sees it."""
        return f"{self.head}{PRUNE_MARK}{self.tail}"


def prune_text(text: str, sizes: PruneSizes) -> Pruned | None:
    """`text` without its middle; None up to the threshold. What it gives is never above the threshold."""
    if len(text) <= sizes.threshold_chars:
        return None
    return Pruned(head=text[: sizes.head_chars], tail=text[len(text) - sizes.tail_chars :])


def prune_texts(texts: Sequence[str], sizes: PruneSizes) -> tuple[Pruned | str, ...] | None:
    """The texts, taken as one, without their middle; None up to the threshold.

    Each keeps its share of head and tail, "" where it has none. The mark stands in the first text that loses something.
    """
    total = sum(map(len, texts))
    if total <= sizes.threshold_chars:
        return None
    return tuple(_shares(texts, sizes.head_chars, total - sizes.tail_chars))


def _shares(texts: Sequence[str], start: int, end: int) -> Iterator[Pruned | str]:
    at, marked = 0, False
    for text in texts:
        head, tail = text[: max(0, start - at)], text[max(0, end - at) :]
        loses = max(at, start) < min(at + len(text), end)
        if not loses:
            yield text
        elif marked:
            yield head + tail
        else:
            yield Pruned(head=head, tail=tail)
        marked, at = marked or loses, at + len(text)
