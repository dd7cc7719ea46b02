"""What stays at both ends of a view while its middle goes: some messages at the head, and the newest part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from compaction.errors import LimitError
from compaction.layers.base import start_with_pairs
from compaction.layers.checks import check_shares, check_whole
from compaction.layers.cuts import end_with_pairs
from compaction.limits import Limits
from compaction.view import PromptView, ViewMessage

_WAYS = ("keep_messages", "keep_message_share", "keep_tokens", "keep_ratio", "keep_share")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepsNewest:
    """Limits shared by the layers that take the middle of a view. One of five says how much of the newest part stays:

    `keep_messages` messages, `keep_message_share` of the messages, `keep_tokens` in the policy's own unit, `keep_ratio`
    of the context window, `keep_share` of the view's own size. At least `keep_at_least` messages stay at the end, which is all
    where none of the five is given, and `keep_first` at the head. Both ends grow until no interaction is cut.
    """

    keep_first: int = 0
    keep_messages: int | None = None
    keep_message_share: float | None = None
    keep_tokens: int | None = None
    keep_ratio: float | None = None
    keep_share: float | None = None
    keep_at_least: int = 1

    id: ClassVar[str] = "keep_newest"
    reached: ClassVar[bool] = True
    """Whether the newest part holds at least what is to be kept, or at most that."""

    def __post_init__(self) -> None:
        check_whole(self, "keep_first", "keep_messages", "keep_tokens", "keep_at_least")
        check_shares(self, "keep_message_share", "keep_ratio", "keep_share")
        given = [name for name in _WAYS if getattr(self, name) is not None]
        if len(given) > 1:
            raise LimitError(f"{self.id}: {' and '.join(given)} say how much stays: give one of them", field=given[1])

    def middle(self, view: PromptView, limits: Limits) -> tuple[int, int] | None:
        """The messages from … to before … that go; None where the window is needed and not known."""
        start = self._tail_start(view, limits)
        if start is None:
            return None
        head = end_with_pairs(view.messages, self.keep_first)
        return head, max(head, start_with_pairs(view.messages, start))

    def _tail_start(self, view: PromptView, limits: Limits) -> int | None:
        count = len(view.messages)
        if self.keep_messages is not None or self.keep_message_share is not None:
            kept = ceil(count * self.keep_message_share) if self.keep_message_share is not None else self.keep_messages or 0
            return max(0, count - max(kept, self.keep_at_least))
        if not any(getattr(self, name) is not None for name in _WAYS):
            return max(0, count - self.keep_at_least)
        budget = self._budget(view, limits)
        if budget is None:
            return None
        return min(_start(view.messages, budget, reached=self.reached), max(0, count - self.keep_at_least))

    def _budget(self, view: PromptView, limits: Limits) -> int | None:
        if self.keep_ratio is not None:
            return None if limits.window is None else int(limits.window * self.keep_ratio)
        return int(view.own * self.keep_share) if self.keep_share is not None else self.keep_tokens


def _start(messages: Sequence[ViewMessage], budget: int, *, reached: bool) -> int:
    """Index from which the newest messages hold at least `budget` (reached), or at most that."""
    kept = 0
    for index in range(len(messages) - 1, -1, -1):
        if reached and kept >= budget:
            return index + 1
        kept += messages[index].own
        if not reached and kept > budget:
            return index + 1
    return 0
