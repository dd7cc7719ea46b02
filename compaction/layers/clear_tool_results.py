"""Older tool results become a placeholder, all but a number of the newest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.layers.checks import check_texts, check_whole
from compaction.layers.tool_results import cleared, tool_results
from compaction.limits import Limits
from compaction.messages import Body
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearToolResults:
    """Clears all tool results but the newest `keep`, where they are longer than `longer_than` characters.

    Results of `exclude_tools` are neither cleared nor counted. Nothing happens where less than `clear_at_least` would be saved, in
    the policy's own unit.
    """

    id: ClassVar[str] = "clear_tool_results"
    title: ClassVar[str] = "Older tool results cleared"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "clear_tool_result"
    idempotent: ClassVar[bool] = True

    keep: int = 3
    longer_than: int = 0
    clear_at_least: int = 0
    exclude_tools: tuple[str, ...] = ()
    placeholder: str = "[cleared]"

    def __post_init__(self) -> None:
        check_whole(self, "keep", "longer_than", "clear_at_least")
        check_texts(self, "placeholder")

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One state edit for each result that is cleared."""
        results = [result for result in tool_results(view) if result.tool not in self.exclude_tools]
        old = [result for result in results[: max(0, len(results) - self.keep)] if result.visible.body.chars > self.longer_than]
        placeholder = Body.of(self.placeholder)
        savings = [saving for result in old if (saving := cleared(view, result, placeholder))]
        saved = sum(saving.own for saving in savings)
        if not savings:
            return Plan(skipped=f"{len(results)} tool results, nothing to clear beyond the newest {self.keep}")
        if saved < self.clear_at_least:
            return Plan(skipped=f"{saved:,} would be saved < {self.clear_at_least:,}")
        return Plan(edits=tuple(saving.edit for saving in savings))
