"""Lines that left one place of a text and came to another."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable

LEAST_CHARS = 16  # a shorter line may stand anywhere by chance
LEAST_LETTERS = 8
_BULLET = re.compile(r"^[ \t]*(?:[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?|\d{1,3}[.)][ \t]+)?")

NumberedLine = tuple[int, str]


def moves(gone: Iterable[NumberedLine], come: Iterable[NumberedLine]) -> dict[int, int]:
    """The number of each line that went, with that of the line that came with the same words; each is used once.

    Indentation and the mark of a list do not count. Lines that are too short to be told apart move nowhere.
    """
    arrived: dict[str, deque[int]] = defaultdict(deque)
    for number, line in come:
        arrived[_bare(line)].append(number)
    found: dict[int, int] = {}
    for number, line in gone:
        words = _bare(line)
        if len(words) >= LEAST_CHARS and sum(map(str.isalpha, words)) >= LEAST_LETTERS and arrived.get(words):
            found[number] = arrived[words].popleft()
    return found


def _bare(line: str) -> str:
    return _BULLET.sub("", line, count=1).strip()
