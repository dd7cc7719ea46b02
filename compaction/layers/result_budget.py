"""The newest batch of tool results is held to a budget: its largest results are stored, with a preview (s08, L3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.edits import spill
from compaction.layers.base import require_whole
from compaction.limits import Limits
from compaction.messages import Body
from compaction.persist import PERSIST_ABOVE_CHARS, PREVIEW_CHARS, persist
from compaction.transcript import Edit, Mechanism
from compaction.view import Plan, PromptView, VisibleBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultBudget:
    """Where the results of the last message hold more than `batch_chars`, those of more than `store_above` characters are stored,
    the largest first, until the sum fits; `preview_chars` of each stay.

    Many results below `store_above` are never reduced, whatever their sum. Without a store nothing is.
    """

    id: ClassVar[str] = "result_budget"
    title: ClassVar[str] = "Large results of a batch stored"
    lossy: ClassVar[bool] = False
    mechanism: ClassVar[Mechanism] = "spill"
    idempotent: ClassVar[bool] = True

    batch_chars: int = 200_000
    store_above: int = PERSIST_ABOVE_CHARS
    preview_chars: int = PREVIEW_CHARS

    def __post_init__(self) -> None:
        require_whole(self.id, 0, batch_chars=self.batch_chars, store_above=self.store_above, preview_chars=self.preview_chars)

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One state edit for each result that was stored."""
        results = _newest_batch(view)
        total = sum(visible.body.chars for visible in results)
        if total <= self.batch_chars:
            return Plan(skipped=f"{total:,} characters in the newest batch ≤ {self.batch_chars:,}")
        edits: list[Edit] = []
        large = [visible for visible in results if visible.body.chars > self.store_above and visible.state != "spilled"]
        for visible in sorted(large, key=lambda visible: -visible.body.chars):
            if total <= self.batch_chars:
                break
            edit = self._stored(view, visible, ask)
            if edit is not None and edit.body is not None:
                edits.append(edit)
                total += edit.body.chars - visible.body.chars
        if edits:
            return Plan(edits=tuple(edits))
        return Plan(skipped=f"{total:,} characters in {len(results)} results, {len(large)} above {self.store_above:,}, none was stored")

    def _stored(self, view: PromptView, visible: VisibleBlock, ask: Ask) -> Edit | None:
        block, text = visible.block, view.pricer.text(visible.body)
        stored = persist(text, block.tool_id, ask.store, above_chars=self.store_above, preview_chars=self.preview_chars)
        return None if stored is None else spill(block.id, Body.of(stored.text))


def _newest_batch(view: PromptView) -> list[VisibleBlock]:
    """The results of the last message, if it is no answer of the model."""
    if not view.messages or view.messages[-1].role == "assistant":
        return []
    return [visible for visible in view.messages[-1].blocks if visible.block.kind == "tool_result"]
