"""Results that just arrived and are too large go to a store; both their ends and a notice stay, as mini-harness 09 and dsh spill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.edits import spill
from compaction.errors import StoreError
from compaction.layers.base import require_whole
from compaction.layers.tool_results import Result, newest_results
from compaction.limits import Limits
from compaction.messages import Block, Body
from compaction.persist import stored_name
from compaction.retain import head_tail_utf8
from compaction.spill import READ_TOOL, Stored, byte_size, spilled
from compaction.transcript import Edit, Mechanism
from compaction.view import Plan, PromptView

HINT = "Open that file in parts, or search it, for what is left out here."
MOST_BYTES_A_CHAR = 4  # of UTF-8


@dataclass(frozen=True, slots=True, kw_only=True)
class SpillHeadTail:
    """Stores results of the newest batch of more than `max_inline_bytes` of UTF-8; what stands for one is within that limit.

    Results of file reads and of `exclude_tools` stay: a pointer leads back to such a call. So do results that hold images or
    other parts, and texts that no store took or for which nothing shorter would stand.
    """

    id: ClassVar[str] = "spill_head_tail"
    title: ClassVar[str] = "Large results stored, both ends kept"
    lossy: ClassVar[bool] = False
    mechanism: ClassVar[Mechanism] = "spill"
    idempotent: ClassVar[bool] = True

    max_inline_bytes: int = 50_000
    exclude_tools: tuple[str, ...] = (READ_TOOL,)

    def __post_init__(self) -> None:
        require_whole(self.id, 0, max_inline_bytes=self.max_inline_bytes)

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One state edit for each result that was stored."""
        edits, large = list[Edit](), 0
        for result in newest_results(view):
            text = self._large_text(result, view)
            if text is not None:
                large += 1
                edits += self._edits(result, text, ask)
        if edits:
            return Plan(edits=tuple(edits))
        limit = f"{self.max_inline_bytes:,} bytes"
        return Plan(skipped=f"{large} results above {limit}, none was stored" if large else f"no new result above {limit}")

    def _large_text(self, result: Result, view: PromptView) -> str | None:
        """The text of a result that is to go; None where it stays."""
        visible = result.visible
        if visible.state == "spilled" or visible.block.path or result.tool in self.exclude_tools or _holds_more_than_text(visible.block):
            return None
        if visible.body.chars * MOST_BYTES_A_CHAR <= self.max_inline_bytes:
            return None
        text = view.pricer.text(visible.body)
        return text if byte_size(text) > self.max_inline_bytes else None

    def _edits(self, result: Result, text: str, ask: Ask) -> tuple[Edit, ...]:
        block = result.visible.block
        try:
            pointer = ask.store(text, stored_name(text, block.tool_id))
        except StoreError:
            pointer = None
        if not pointer:
            return ()
        left = spilled(text, Stored(locator=pointer, hint=HINT), max_inline_bytes=self.max_inline_bytes, preview=head_tail_utf8)
        return (spill(block.id, Body.of(left.text)),) if left is not None and len(left.text) < len(text) else ()


def _holds_more_than_text(block: Block) -> bool:
    return any(flag == "content_not_text" or flag.startswith("images:") for flag in block.flags)
