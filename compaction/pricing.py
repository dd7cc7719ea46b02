"""A pricer: what texts and blocks of one session cost in one unit, each distinct text measured once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from compaction.counters.chars import CHARS
from compaction.counters.sizes import TextSizes, text_sizes
from compaction.counters.units import Shape, Unit
from compaction.errors import EditError
from compaction.messages import Block, Body, Role
from compaction.wire_blocks import NO_RAW

MOST_CUTS = 1_000  # kept for the next policy that cuts the same results


def estimated_count(text: str) -> int:
    """The count of a text where no tokenizer is to be loaded: an estimate from characters."""
    return CHARS.count(text).tokens


class Pricer:
    """Prices under one unit. Bodies that carry no text find it in `texts`, by digest.

    `counts` and `sizes` are what is known already of texts, by digest; `count` counts what is new, in tokens of the
    session's public tokenizer. What is measured is kept, so a pricer serves one session and one thread.
    """

    __slots__ = ("_count", "_counts", "_cuts", "_known_counts", "_known_sizes", "_sizes", "_texts", "unit")

    def __init__(
        self,
        unit: Unit,
        *,
        texts: Mapping[bytes, str] | None = None,
        counts: Mapping[bytes, int] | None = None,
        sizes: Mapping[bytes, TextSizes] | None = None,
        count: Callable[[str], int] = estimated_count,
    ) -> None:
        self.unit = unit
        self._texts = texts or {}
        self._known_counts = counts or {}
        self._known_sizes = sizes or {}
        self._counts: dict[bytes, int] = {}
        self._sizes: dict[bytes, TextSizes] = {}
        self._cuts: dict[tuple[bytes, int, str], Body] = {}
        self._count = count

    def text(self, body: Body) -> str:
        """The text of a body; EditError where neither it nor this pricer has it."""
        if body.text is not None:
            return body.text
        try:
            return self._texts[body.digest]
        except KeyError:
            raise EditError(
                f"the text of body {body.digest.hex()} ({body.chars} characters) is not at hand: give it to the pricer"
            ) from None

    def cut(self, body: Body, chars: int, mark: str) -> Body:
        """The first `chars` of a body's text with a mark behind them: made once, however often a view is cut."""
        found = self._cuts.get((body.digest, chars, mark))
        if found is None:
            if len(self._cuts) >= MOST_CUTS:
                self._cuts.clear()
            found = self._cuts[body.digest, chars, mark] = Body.of(self.text(body)[:chars] + mark)
        return found

    def sizes(self, body: Body) -> TextSizes:
        """The lengths of a body's text."""
        found = self._known_sizes.get(body.digest) or self._sizes.get(body.digest)
        if found is None:
            found = self._sizes[body.digest] = text_sizes(self.text(body))
        return found

    def tokens(self, body: Body) -> int:
        """The exact count of a body's text, or what `count` makes of it."""
        found = self._known_counts.get(body.digest)
        if found is None:
            found = self._counts.get(body.digest)
        if found is None:
            found = self._counts[body.digest] = self._count(self.text(body))
        return found

    def block(self, block: Block, body: Body, shape: Shape, raw: object = NO_RAW) -> int:
        """What `block` costs with the text of `body`; `raw` is the caller's own block with that text, if it has one."""
        if raw is not NO_RAW:
            priced = self.unit.raw_block(raw)
            if priced is not None:
                return priced
        return self.unit.block(block, self.sizes(body), self.tokens(body), shape)

    def message(self, role: Role, shape: Shape, blocks: Sequence[Block], raw: Mapping[str, object] | None = None) -> int:
        """What a message costs beside its blocks; nothing where it has none."""
        return self.unit.message(role, shape, blocks, raw) if blocks else 0
