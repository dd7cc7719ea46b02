"""s14 L1: a tool result above the limit keeps its beginning, and a mark with both lengths."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.edits import truncate
from compaction.layers.base import require_whole
from compaction.limits import Limits
from compaction.messages import Body
from compaction.pricing import Pricer
from compaction.prompt import ViewMessage, VisibleBlock
from compaction.transcript import Edit, Mechanism
from compaction.view import Plan, PromptView

CHARS_A_TOKEN = 4
MARK = "\n\n[... 已截断: 原始 {original} 字符, 保留 {kept} 字符 ...]"
MARK_AT_END = re.compile(r"\n\n\[\.\.\. 已截断(?:: 原始 \d+ 字符, 保留 \d+ 字符|, 原始长度 \d+ 字符) \.\.\.\]\Z")
LONGEST_MARK = 100
ROLES = ("user", "tool")


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncateResults:
    """`max_tool_result_tokens`: four characters each; a result whose characters // 4 are above it is cut to so many.

    A cut that would not make the text shorter is not made, and a text that ends in the mark is left alone: cut again, the
    mark would lose the true length.
    """

    id: ClassVar[str] = "truncate_results"
    title: ClassVar[str] = "Cut long results"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "truncate_output"
    idempotent: ClassVar[bool] = True

    max_tool_result_tokens: int = 5000

    def __post_init__(self) -> None:
        require_whole(self.id, 0, max_tool_result_tokens=self.max_tool_result_tokens)

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """Cuts every result that is long enough."""
        least = (self.max_tool_result_tokens + 1) * CHARS_A_TOKEN
        long = [message for message in view.messages if message.largest_result >= least and message.role in ROLES]
        edits = tuple(edit for message in long for edit in self._cuts(message, least, view.pricer))
        return Plan(edits=edits, skipped="" if edits else f"no result of {least:,} characters that a cut would shorten")

    def _cuts(self, message: ViewMessage, least: int, pricer: Pricer) -> list[Edit]:
        blocks = [one for one in message.blocks if one.block.kind == "tool_result" and one.body.chars >= least]
        cuts = [(one, self._cut(one, pricer)) for one in blocks]
        return [truncate(one.block.id, body) for one, body in cuts if body is not None]

    def _cut(self, visible: VisibleBlock, pricer: Pricer) -> Body | None:
        chars, kept = visible.body.chars, self.max_tool_result_tokens * CHARS_A_TOKEN
        mark = MARK.format(original=chars, kept=kept)
        if kept + len(mark) >= chars or MARK_AT_END.search(pricer.text(visible.body)[-LONGEST_MARK:]):
            return None
        return pricer.cut(visible.body, kept, mark)
