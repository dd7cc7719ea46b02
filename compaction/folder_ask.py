"""A caller for an agent of one's own: a function for summaries, and a folder for what leaves the view."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from compaction.ask import CallerAsk, SummaryRequest
from compaction.counters.sizes import json_text
from compaction.persist import FolderStore
from compaction.view import PromptView
from compaction.wire import write_wire


class FolderAsk(CallerAsk):
    """Puts large results into `results/` of a folder and whole views, a message a line, into `archives/`.

    `summarize` is asked for summaries; what it raises becomes a SummarizerError, and the view stays.
    """

    def __init__(self, folder: Path, summarize: Callable[[SummaryRequest], str | None]) -> None:
        super().__init__(summarize)
        self._results = FolderStore(folder=folder / "results")
        self._archives = FolderStore(folder=folder / "archives")

    def store(self, text: str, name: str) -> str | None:
        return self._results.store(text, name)

    def archive(self, view: PromptView) -> str | None:
        lines = "".join(f"{json_text(message)}\n" for message in write_wire(view))
        digest = hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()
        return self._archives.store(lines, f"{digest}.jsonl")
