"""The order of a view: places in a linked list, each with a position by which any past view can be sorted.

A position never moves in relation to others that were visible with it, so a view at any call is its places sorted by
position. Where the room between two floats is used up, all places are renumbered in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from compaction.messages import Block, BlockState, Body, Role

by_position = attrgetter("position")


class Placed:
    """A block at a place of the view. `since` is the first call number that could see this place and state, `until` the
    first that could not any more (None while it is visible).

    `body` is None when the content in this state is not known. `tokens` is its estimate (≈). `position` is 0 until the
    block is first shown. `sent`: a call saw the block at a place or in a state that it has left since.
    """

    __slots__ = (
        "ahead",
        "behind",
        "block",
        "body",
        "line",
        "position",
        "role",
        "sent",
        "since",
        "state",
        "tokens",
        "until",
        "visible",
    )

    def __init__(self, block: Block, tokens: int, role: Role, line: int) -> None:
        self.block = block
        self.tokens = tokens
        self.role = role
        self.line = line
        self.state: BlockState = block.state
        self.body: Body | None = block.body
        self.position = 0.0
        self.since = 0
        self.until: int | None = None
        self.sent = False
        self.visible = False
        self.ahead: Placed | None = None
        self.behind: Placed | None = None

    def again(self) -> Placed:
        """The same block in the same state, to stand at another place."""
        copy = Placed(self.block, self.tokens, self.role, self.line)
        copy.state, copy.body, copy.sent = self.state, self.body, self.sent
        return copy


class Order:
    """The visible places, first to last. `places` are all that ever were, in the order in which they were made."""

    __slots__ = ("_head", "_highest", "places", "tail")

    def __init__(self) -> None:
        self._head: Placed | None = None
        self.tail: Placed | None = None
        self._highest = 0.0
        self.places: list[Placed] = []

    def __iter__(self) -> Iterator[Placed]:
        placed = self._head
        while placed is not None:
            yield placed
            placed = placed.ahead

    def link(self, placed: Placed, after: Placed | None, mark: Placed | None = None, share: int = 1) -> None:
        """Put a place directly after another (None: first); its position stays below that of the gone place `mark`.

        `share` places are going to stand in this gap, this one included; they are spaced evenly.
        """
        follower = self._head if after is None else after.ahead
        placed.behind, placed.ahead = after, follower
        placed.position = self._position(after, mark or follower, share)
        if after is None:
            self._head = placed
        else:
            after.ahead = placed
        if follower is None:
            self.tail = placed
        else:
            follower.behind = placed
        self.places.append(placed)
        placed.visible = True

    def unlink(self, placed: Placed) -> None:
        """Take a block out of the order; its place is not given again."""
        if placed.behind is None:
            self._head = placed.ahead
        else:
            placed.behind.ahead = placed.ahead
        if placed.ahead is None:
            self.tail = placed.behind
        else:
            placed.ahead.behind = placed.behind
        placed.visible, placed.ahead, placed.behind = False, None, None

    def _position(self, after: Placed | None, upper: Placed | None, share: int) -> float:
        if upper is None:
            self._highest = float(int(self._highest) + 1)
            return self._highest
        low = 0.0 if after is None else after.position
        position = low + (upper.position - low) / (share + 1)
        if low < position < upper.position:
            return position
        self._spread()
        return self._position(after, upper, share)

    def _spread(self) -> None:
        """Give all places, those of gone blocks too, whole positions again in their order."""
        for number, placed in enumerate(sorted(self.places, key=by_position), start=1):
            placed.position = float(number)
        self._highest = float(len(self.places))
