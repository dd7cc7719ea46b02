"""What a counter is, and what it answers."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class TokenFigure(NamedTuple):
    """A number of tokens. `exact`: the whole text's own count under the named tokenizer, not an estimate or a sum of pieces."""

    tokens: int
    exact: bool


class TokenCounter(Protocol):
    """Counts a text by itself, without what a provider adds for each block or message."""

    @property
    def id(self) -> str:
        """The stable name, by which figures are stored."""
        ...

    @property
    def title(self) -> str:
        """What pages call its figures."""
        ...

    def count(self, text: str) -> TokenFigure:
        """The tokens of the text, and whether the figure is exact."""
        ...
