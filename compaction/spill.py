"""Large results out of the view: the full text goes to a store, a preview and a notice with the way back stay.

Limits are bytes of UTF-8. Each harness decides which results may go and how a preview is cut; the notice, its arithmetic and
what a failing store means are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from compaction.errors import OptionError, StoreError
from compaction.retain import utf8

BETWEEN = "\n\n"  # stands between preview and notice
READ_TOOL = "read"  # its results are what a pointer leads to: moving them out again would never end

Preview = Callable[[str, int], str]
"""Cuts a text to a number of bytes, whole code points only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Where a store put a text, and how the model gets at it, both in words for the model."""

    locator: str
    hint: str


Store = Callable[[str], Stored]
"""Puts a text away; StoreError where it cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spilled:
    """What stands for a stored text in the view."""

    preview: str
    omitted_bytes: int
    stored: Stored

    @property
    def notice(self) -> str:
        """What tells the model that, and where, there is more."""
        return _notice(self.omitted_bytes, self.stored)

    @property
    def text(self) -> str:
        """The text as the model sees it."""
        return f"{self.preview}{BETWEEN}{self.notice}" if self.preview else self.notice

    @property
    def size(self) -> int:
        """Bytes of that text."""
        return byte_size(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The call that a result answers. `nested`: another tool made it, so no view shows its result."""

    tool_name: str
    nested: bool = False

    @property
    def stays(self) -> bool:
        """Whether its result is never spilled."""
        return self.nested or self.tool_name == READ_TOOL


def byte_size(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(utf8(text))


def check_inline_bytes(value: object) -> None:
    """OptionError unless `value` is a limit: an integer from 0, or None for no limit."""
    if value is not None and (type(value) is not int or value < 0):
        raise OptionError(
            f"max_inline_bytes is {value!r}: give an integer from 0, or nothing for no limit",
            code="max_inline_bytes_invalid",
            key="max_inline_bytes",
        )


def save(text: str, store: Store) -> Stored | None:
    """Where the store put the text; None where it failed: a failing store never fails the call whose result it is."""
    try:
        return store(text)
    except (StoreError, OSError):
        return None


def spilled(text: str, stored: Stored, *, max_inline_bytes: int, preview: Preview) -> Spilled | None:
    """What stands for `text` within the limit; None where not even the notice fits.

    The budget of the preview leaves room for the longest notice, which says that everything was omitted.
    """
    size = byte_size(text)
    budget = max_inline_bytes - byte_size(BETWEEN + _notice(size, stored))
    kept = preview(text, budget) if budget > 0 else ""
    result = Spilled(preview=kept, omitted_bytes=size - byte_size(kept), stored=stored)
    return result if result.size <= max_inline_bytes else None


def _notice(omitted_bytes: int, stored: Stored) -> str:
    return f"(Omitted {omitted_bytes} bytes. Full formatted result stored at: {stored.locator}. {stored.hint})"
