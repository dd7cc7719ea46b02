"""Results that just arrived and are too large go to a store; a preview and the way back stand in the view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.edits import spill
from compaction.layers.checks import check_whole
from compaction.layers.tool_results import Result, newest_results
from compaction.limits import Limits
from compaction.messages import Body
from compaction.persist import persist
from compaction.transcript import Edit, Mechanism
from compaction.view import Plan, PromptView


@dataclass(frozen=True, slots=True, kw_only=True)
class SpillResults:
    """Stores results of the newest batch that are longer than `longer_than` characters, or larger than `larger_than` in the
    policy's own unit; `preview_chars` of each stay.

    `tool_limits` gives single tools another number of characters, `exclude_tools` are never stored. Without a store, or where what
    would stand for it is not shorter, the text stays.
    """

    id: ClassVar[str] = "spill_results"
    title: ClassVar[str] = "Large results stored"
    lossy: ClassVar[bool] = False
    mechanism: ClassVar[Mechanism] = "spill"
    idempotent: ClassVar[bool] = True

    longer_than: int | None = 50_000
    larger_than: int | None = None
    preview_chars: int = 2_000
    tool_limits: tuple[tuple[str, int], ...] = ()
    exclude_tools: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_whole(self, "longer_than", "larger_than", "preview_chars")

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One state edit for each result that was stored."""
        large = [result for result in newest_results(view) if self._is_large(result)]
        edits = [edit for result in large if (edit := spill_edit(view, result, self.preview_chars, ask))]
        if edits:
            return Plan(edits=tuple(edits))
        return Plan(skipped=f"{len(large)} large results, none was stored" if large else "no new result above its limit")

    def _is_large(self, result: Result) -> bool:
        if result.visible.state == "spilled" or result.tool in self.exclude_tools:
            return False
        chars = dict(self.tool_limits).get(result.tool, self.longer_than)
        return (chars is not None and result.visible.body.chars > chars) or (
            self.larger_than is not None and result.visible.own > self.larger_than
        )


def spill_edit(view: PromptView, result: Result, preview_chars: int, ask: Ask) -> Edit | None:
    """Store the text of a result; None where it could not be stored, or where what would stand for it is not shorter."""
    block = result.visible.block
    stored = persist(view.pricer.text(result.visible.body), block.tool_id, ask.store, above_chars=0, preview_chars=preview_chars)
    return None if stored is None else spill(block.id, Body.of(stored.text))
