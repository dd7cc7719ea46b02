"""Tokens as the provider reported them, for a whole call."""

from __future__ import annotations

from compaction.counters.figure import TokenFigure
from compaction.transcript import Usage


def prompt_figure(usage: Usage) -> TokenFigure | None:
    """The reported size of a call's prompt (input + cache read + cache write), None where it was not reported."""
    tokens = usage.prompt_tokens
    return None if tokens is None else TokenFigure(tokens=tokens, exact=True)
