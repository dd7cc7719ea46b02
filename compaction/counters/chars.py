"""The estimate from characters alone, for texts that no tokenizer has counted."""

from __future__ import annotations

from compaction.counters.figure import TokenFigure

ASCII_CHARS_A_TOKEN = 4  # English and code, o200k_base: 3.2 to 4.9 measured
OTHER_CHARS_A_TOKEN = 2  # Chinese, o200k_base: 2.04 measured


class Chars:
    """A token for four ASCII characters, and one for two others; never exact."""

    id = "chars"
    title = "estimate from characters"

    def count(self, text: str) -> TokenFigure:
        """The estimate, each of the two parts rounded up."""
        others = 0 if text.isascii() else sum(char > "\x7f" for char in text)
        tokens = -(-(len(text) - others) // ASCII_CHARS_A_TOKEN) - (-others // OTHER_CHARS_A_TOKEN)
        return TokenFigure(tokens=tokens, exact=False)


CHARS = Chars()
