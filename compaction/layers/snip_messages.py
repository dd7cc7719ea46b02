"""The middle of a long list of messages goes; a count stands for it (s08, L1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.errors import LimitError
from compaction.layers.base import require_whole, start_with_pairs, text_message
from compaction.limits import Limits
from compaction.transcript import Edit, Mechanism
from compaction.view import Plan, PromptView, ViewMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class SnipMessages:
    """With more than `max_messages`, keeps `keep_head` at the head and the rest of them at the end, pairs whole.

    One message more than `max_messages` remains, so it runs at every later call again; its count then takes the old
    placeholder for one message, and only the ledger knows the true sum. A middle of one message is left alone, so a
    second pass changes nothing.
    """

    id: ClassVar[str] = "snip_messages"
    title: ClassVar[str] = "Middle of the messages removed"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "snip_messages"
    idempotent: ClassVar[bool] = True

    max_messages: int = 50
    keep_head: int = 3

    def __post_init__(self) -> None:
        require_whole(self.id, 0, keep_head=self.keep_head)
        require_whole(self.id, 1, max_messages=self.max_messages)
        if self.keep_head >= self.max_messages:
            sizes = f"keep_head ({self.keep_head}) and max_messages ({self.max_messages})"
            raise LimitError(f"{self.id}: {sizes} leave no room for the newest messages: lower keep_head", field="keep_head")

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One replacement of the middle by a placeholder."""
        count = len(view.messages)
        if count <= self.max_messages:
            return Plan(skipped=f"{count} messages ≤ {self.max_messages}")
        tail = start_with_pairs(view.messages, count - self.max_messages + self.keep_head)
        head = _head_end(view.messages, self.keep_head, tail)
        if tail - head < 2:
            return Plan(skipped=f"{max(0, tail - head)} of {count} messages lie between the head and the tail")
        put = text_message(view.next_seq, "user", f"[snipped {tail - head} messages]")
        takes = [block for message in view.messages[head:tail] for block in message.ids]
        return Plan(edits=(Edit(verb="replace", takes=tuple(takes), puts=(put.seq,)),), added=(put,))


def _head_end(messages: Sequence[ViewMessage], end: int, tail: int) -> int:
    """Where the head ends once it holds the results of its calls: those that follow its last message, and any before `tail`."""
    if end and messages[end - 1].uses and messages[end - 1].role == "assistant":
        while end < len(messages) and messages[end].results and messages[end].role != "assistant":
            end += 1
    called: set[str] = set()
    for message in messages[:end]:
        called.update(message.uses)
    for index in range(end, tail):
        if not called.isdisjoint(messages[index].results):
            for message in messages[end : index + 1]:
                called.update(message.uses)
            end = index + 1
    return end
