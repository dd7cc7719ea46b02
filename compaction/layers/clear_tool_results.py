"""Older tool results become a placeholder, all but a number of the newest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.layers.checks import check_texts, check_whole
from compaction.layers.tool_results import clearing, is_clearable, results_of_tools
from compaction.limits import Limits
from compaction.messages import Body
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView, VisibleBlock


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
        placeholder = Body.of(self.placeholder)
        old, kept = self._old(view, placeholder)
        nothing = f"no tool result to clear beyond the newest {self.keep}"
        return clearing(view, old, placeholder, at_least=self.clear_at_least, nothing=nothing, settled=kept)

    def _old(self, view: PromptView, placeholder: Body) -> tuple[list[tuple[int, VisibleBlock]], int]:
        """The results that are to be cleared with the places of their messages, newest first; and the place of the oldest message
        with a result that stays now and may be cleared later."""
        excluded = results_of_tools(view, self.exclude_tools)
        old: list[tuple[int, VisibleBlock]] = []
        newer, kept, least = 0, len(view.messages), max(self.longer_than, placeholder.chars)
        for at in range(len(view.messages) - 1, view.settled.get(self, 0) - 1, -1):
            message = view.messages[at]
            if not message.results or (newer >= self.keep and message.largest_result <= least):
                continue
            for visible in reversed(message.blocks):
                if visible.block.kind != "tool_result":
                    continue
                is_old = visible.body.chars > self.longer_than and is_clearable(visible, placeholder)
                if visible.block.tool_id in excluded:
                    kept = at if is_old else kept
                    continue
                if is_old and newer >= self.keep:
                    old.append((at, visible))
                elif is_old:
                    kept = at
                newer += 1
        return old, kept
