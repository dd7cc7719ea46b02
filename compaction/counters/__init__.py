"""Token counters. Each counts a text; what a block costs in a prompt is `compaction.analysis.estimates`."""

from compaction.counters.bpe import CL100K_BASE, O200K_BASE
from compaction.counters.chars import CHARS
from compaction.counters.figure import TokenCounter, TokenFigure

COUNTERS: tuple[TokenCounter, ...] = (CHARS, O200K_BASE, CL100K_BASE)

__all__ = ["COUNTERS", "TokenCounter", "TokenFigure"]
