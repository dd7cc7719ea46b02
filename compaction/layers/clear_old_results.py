"""All but the newest tool results become a fixed placeholder (s08, L2, micro compaction)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.edits import clear
from compaction.layers.base import require_whole
from compaction.limits import Limits
from compaction.messages import Body
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView

CLEARED = Body.of("[Earlier tool result compacted. Re-run if needed.]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearOldResults:
    """Of the results of the user's messages, the newest `keep_results` stay; older ones of more than `longer_than` characters
    are cleared. A list of blocks is as long as its text."""

    id: ClassVar[str] = "clear_old_results"
    title: ClassVar[str] = "Older tool results cleared"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "clear_tool_result"
    idempotent: ClassVar[bool] = True

    keep_results: int = 3
    longer_than: int = 120

    def __post_init__(self) -> None:
        require_whole(self.id, 0, keep_results=self.keep_results, longer_than=self.longer_than)

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One state edit for each result that is cleared."""
        messages = [message for message in view.messages if message.results and message.role != "assistant"]
        results = [visible for message in messages for visible in message.blocks if visible.block.kind == "tool_result"]
        old = results[: max(0, len(results) - self.keep_results)]
        least = max(self.longer_than, CLEARED.chars)
        edits = tuple([clear(visible.block.id, CLEARED) for visible in old if visible.body.chars > least])
        if edits:
            return Plan(edits=edits)
        return Plan(
            skipped=f"{len(old)} of {len(results)} results are older than the newest {self.keep_results}, none is longer than {least}"
        )
