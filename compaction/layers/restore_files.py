"""After a summary, the files that were read last come back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.edits import restore
from compaction.layers.base import text_message
from compaction.layers.checks import check_whole
from compaction.layers.tool_results import tool_results
from compaction.limits import Limits
from compaction.prompt import message_as_logged
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView, VisibleBlock

RANGE = "\n"  # in the key of a read that gave a part of a file, what follows is the part


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreFiles:
    """Puts the newest `files` file reads that a summary of this run took back behind it, each as a message of its own.

    Each is cut to `tokens_each`, and one that would bring them above `tokens_together` does not come back; both in the policy's own
    unit. Of several reads of one path the newest counts.
    """

    id: ClassVar[str] = "restore_files"
    title: ClassVar[str] = "Recently read files put back"
    lossy: ClassVar[bool] = False
    mechanism: ClassVar[Mechanism] = "summary"
    idempotent: ClassVar[bool] = True

    files: int = 5
    tokens_each: int = 5_000
    tokens_together: int = 50_000

    def __post_init__(self) -> None:
        check_whole(self, "files", "tokens_each", "tokens_together", at_least=1)

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """Nothing: what a view holds need not come back."""
        return self.plan_since(view, view, limits, ask)

    def plan_since(self, start: PromptView, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One restoration of the files that were in `start`, where the run began, and are not in `view`."""
        summary = next((message for message in view.messages if message.origin == "summary" and message.seqs[0] >= start.next_seq), None)
        if summary is None:
            return Plan(skipped="no summary was put in this run")
        texts = list(self._texts(start, view))
        if not texts:
            return Plan(skipped="no file read was taken by the summary")
        added = tuple(text_message(view.next_seq + index, "user", text) for index, text in enumerate(reversed(texts)))
        return Plan(edits=(restore([message.seq for message in added], after=summary.ids[-1]),), added=added)

    def _texts(self, start: PromptView, view: PromptView) -> Iterator[str]:
        """The texts that come back, newest first, as many as fit."""
        left = self.tokens_together
        for path, visible in self._gone(start, view)[: self.files]:
            opening = f"[File as it was read before the summary: {path.partition(RANGE)[0]}]\n"
            text = opening + view.pricer.text(visible.body)
            size = _size(view, text)
            if size > self.tokens_each:
                text = text[: max(len(opening), len(text) * self.tokens_each // size)]
                size = _size(view, text)
            if size <= left:
                left -= size
                yield text

    def _gone(self, start: PromptView, view: PromptView) -> list[tuple[str, VisibleBlock]]:
        """The reads that left, newest first, the newest of each path."""
        here = {visible.block.id for visible in view.blocks}
        read_again = {path for message in view.messages for _, path in message.reads}
        newest: dict[str, VisibleBlock] = {}
        for result in reversed(list(tool_results(start))):
            path = result.visible.block.path
            if path and path not in read_again and result.visible.block.id not in here:
                newest.setdefault(path, result.visible)
        return list(newest.items())


def _size(view: PromptView, text: str) -> int:
    return message_as_logged(text_message(view.next_seq, "user", text), view.pricer).own
