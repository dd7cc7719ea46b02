"""dsh's pruner and checkpoints over content blocks as its log writes them; blocks that are no text stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compaction.checkpoints import PREAMBLE, checkpoint_texts
from compaction.dsh.estimates import estimate_message
from compaction.errors import OptionError
from compaction.prune import Pruned, PruneSizes, prune_texts

ContentBlock = Mapping[str, object]

SIZES: Mapping[str, str] = {"thresholdChars": "threshold_chars", "headChars": "head_chars", "tailChars": "tail_chars"}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptBlock:
    """A block of a pruned result; `cut` where its text lost its middle and holds the mark."""

    block: ContentBlock
    cut: Pruned | None = None

    @property
    def written(self) -> ContentBlock:
        """The block as the log writes it."""
        return self.block if self.cut is None else {**self.block, "text": self.cut.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A checkpoint: its text before the summary, the summary's blocks, its text after them."""

    opening: str
    summary: Sequence[ContentBlock]
    closing: str

    @property
    def blocks(self) -> tuple[ContentBlock, ...]:
        """The content of the user message that it is."""
        return ({"type": "text", "text": self.opening}, *self.summary, {"type": "text", "text": self.closing})

    @property
    def tokens(self) -> int:
        """The price of that message."""
        return estimate_message(self.blocks)


def prune_sizes(options: Mapping[str, int]) -> PruneSizes:
    """The pruner's sizes from dsh's options; OptionError for an unknown name or sizes that cannot be."""
    for key in options:
        if key not in SIZES:
            raise OptionError(f"the pruner has no option {key}: it has {', '.join(SIZES)}", code="unknown_key", key=key)
    return PruneSizes(**{SIZES[key]: value for key, value in options.items()})


def text_of(block: ContentBlock) -> str | None:
    """The text of a text block, None of any other."""
    text = block.get("text")
    return text if block.get("type") == "text" and isinstance(text, str) else None


def text_chars(content: Sequence[ContentBlock]) -> int:
    """Code points of all text blocks together."""
    return sum(len(text_of(block) or "") for block in content)


def prune_content(content: Sequence[ContentBlock], sizes: PruneSizes) -> tuple[KeptBlock, ...] | None:
    """The content without the middle of its texts, taken as one; None up to the threshold.

    A text block that keeps nothing and holds no mark is dropped.
    """
    texts = [text for text in map(text_of, content) if text is not None]
    shares = prune_texts(texts, sizes)
    if shares is None:
        return None
    rest, kept = iter(shares), list[KeptBlock]()
    for block in content:
        share = None if text_of(block) is None else next(rest)
        if isinstance(share, Pruned):
            kept.append(KeptBlock(block=block, cut=share))
        elif share is None or share:
            kept.append(KeptBlock(block=block if share is None else {**block, "text": share}))
    return tuple(kept)


def frame_summary(summary: Sequence[ContentBlock], preamble: str = PREAMBLE) -> Frame:
    """The checkpoint that stands for what `summary` summarises."""
    opening, closing = checkpoint_texts((), preamble)
    return Frame(opening=opening, summary=summary, closing=closing)
