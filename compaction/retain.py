"""What fits a budget of a text that may be large: whole code points within bytes of UTF-8, and the first of many items.

`head_tail_utf8` cuts a text that is there; `TextRetainer` takes one piece by piece and holds only what it may keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from compaction.errors import OptionError

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteBudget:
    """Bytes kept from the start and from the end. OptionError names the budget that is no integer from 0."""

    head: int = 0
    tail: int = 0

    def __post_init__(self) -> None:
        check_budget("head", self.head)
        check_budget("tail", self.tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """What was kept of a text, and how many bytes of it were not."""

    text: str
    omitted_bytes: int

    @property
    def truncated(self) -> bool:
        """Whether anything was left out."""
        return self.omitted_bytes > 0


class TextRetainer:
    """Keeps the first and the last bytes of a text that arrives in pieces; in memory it holds twice its budget at most.

    Cuts move to the borders of code points, only where something is left out; bytes that are no UTF-8 become U+FFFD.
    """

    def __init__(self, budget: ByteBudget) -> None:
        self._budget = budget
        self._head = bytearray()
        self._tail = bytearray()
        self._seen = 0

    @property
    def truncated(self) -> bool:
        """Whether the pieces so far are more than the budget holds."""
        return self._seen > self._budget.head + self._budget.tail

    def push(self, piece: str | bytes) -> bool:
        """Take the next piece; whether everything so far is still kept."""
        given = utf8(piece) if isinstance(piece, str) else piece
        self._seen += len(given)
        room = self._budget.head - len(self._head)
        self._head += given[:room]
        self._tail += given[room:]
        if len(self._tail) > 2 * self._budget.tail:
            self._shorten_tail()
        return not self.truncated

    def finish(self) -> Retained:
        """What was kept of all pieces."""
        if not self.truncated:
            return Retained(text=(self._head + self._tail).decode(errors="replace"), omitted_bytes=0)
        self._shorten_tail()
        head, tail = _whole_end(bytes(self._head)), _whole_start(bytes(self._tail))
        return Retained(
            text=head.decode(errors="replace") + tail.decode(errors="replace"), omitted_bytes=self._seen - len(head) - len(tail)
        )

    def _shorten_tail(self) -> None:
        del self._tail[: max(0, len(self._tail) - self._budget.tail)]


class ItemRetainer(Generic[Item]):
    """Keeps the first `most` items of a stream and counts the rest. OptionError where `most` is no integer from 0."""

    def __init__(self, most: int) -> None:
        check_budget("items", most)
        self._most = most
        self.items: list[Item] = []
        self.seen = 0

    @property
    def omitted(self) -> int:
        """How many items were not kept."""
        return self.seen - len(self.items)

    def push(self, item: Item) -> bool:
        """Take the next item; whether it was kept."""
        self.seen += 1
        if len(self.items) < self._most:
            self.items.append(item)
        return not self.omitted


def check_budget(name: str, value: object) -> None:
    """OptionError unless `value` is an integer from 0."""
    if type(value) is not int or value < 0:
        raise OptionError(f"the budget {name} is {value!r}: it must be an integer from 0", code="budget_invalid", key=name)


def utf8(text: str) -> bytes:
    """The text in UTF-8; a lone surrogate, which has none, becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def head_tail_utf8(text: str, budget: int) -> str:
    """The code points that fit whole into the larger half of `budget` bytes at the start, and of the rest into the other at the end."""
    given = utf8(text)
    most_head, most_tail = halves(max(budget, 0))
    head = given if len(given) <= most_head else _whole_end(given[:most_head])
    rest = given[len(head) :]
    tail = rest if len(rest) <= most_tail else _whole_start(rest[len(rest) - most_tail :])
    return (head + tail).decode()


def halves(budget: int) -> tuple[int, int]:
    """A budget in two; the odd byte goes to the head."""
    return budget - budget // 2, budget // 2


def _whole_end(cut: bytes) -> bytes:
    """`cut` without the code point that it ends inside."""
    for back in range(1, min(4, len(cut)) + 1):
        byte = cut[-back]
        if not _continues(byte):
            return cut[:-back] if back < _length(byte) else cut
    return cut


def _whole_start(cut: bytes) -> bytes:
    """`cut` without the rest of a code point that it begins inside."""
    inside = next((at for at, byte in enumerate(cut[:4]) if not _continues(byte)), min(3, len(cut)))
    return cut[inside:]


def _continues(byte: int) -> bool:
    return byte & 0b1100_0000 == 0b1000_0000


def _length(first: int) -> int:
    """Bytes of the code point that begins with `first`; 1 where no code point does."""
    for length, lowest in ((4, 0xF0), (3, 0xE0), (2, 0xC0)):
        if lowest <= first < 0xF8:
            return length
    return 1
