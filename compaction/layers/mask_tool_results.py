"""Tool results become a placeholder where newer ones fill the part that is protected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.layers.checks import check_texts, check_whole
from compaction.layers.tool_results import clearing, is_clearable, results_of_tools, turns_after
from compaction.limits import Limits
from compaction.messages import Body
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView, VisibleBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskToolResults:
    """Masks the results beyond the newest `protect_tokens` of results, where that gains at least `least_gain`; both in the policy's unit.

    Results of the newest `protect_turns` turns of a person, of the newest `protect_messages` messages and of `exclude_tools` stay
    and fill nothing.
    """

    id: ClassVar[str] = "mask_tool_results"
    title: ClassVar[str] = "Tool results masked"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "mask_tool_result"
    idempotent: ClassVar[bool] = True

    protect_tokens: int = 40_000
    least_gain: int = 20_000
    protect_turns: int = 0
    protect_messages: int = 1
    exclude_tools: tuple[str, ...] = ()
    placeholder: str = "<tool_output_masked/>"

    def __post_init__(self) -> None:
        check_whole(self, "protect_tokens", "least_gain", "protect_turns", "protect_messages")
        check_texts(self, "placeholder")

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One state edit for each result that is masked."""
        placeholder = Body.of(self.placeholder)
        beyond, kept = self._beyond(view, placeholder)
        nothing = f"no tool result beyond the newest {self.protect_tokens:,}"
        return clearing(view, beyond, placeholder, at_least=self.least_gain, nothing=nothing, settled=kept)

    def _beyond(self, view: PromptView, placeholder: Body) -> tuple[list[tuple[int, VisibleBlock]], int]:
        """The results that are not protected with the places of their messages, newest first; and the place of the oldest message
        with a result that stays now and may be masked later."""
        excluded = results_of_tools(view, self.exclude_tools)
        end = max(0, min(turns_after(view, self.protect_turns), len(view.messages) - self.protect_messages))
        beyond: list[tuple[int, VisibleBlock]] = []
        filled, kept = 0, end
        for at in range(end - 1, view.settled.get(self, 0) - 1, -1):
            message = view.messages[at]
            if not message.results or (filled > self.protect_tokens and message.largest_result <= placeholder.chars):
                continue
            for visible in reversed(message.blocks):
                if visible.block.kind != "tool_result" or visible.state == "cleared":
                    continue
                may_go = is_clearable(visible, placeholder)
                if visible.block.tool_id in excluded:
                    kept = at if may_go else kept
                    continue
                filled += visible.own
                if may_go and filled > self.protect_tokens:
                    beyond.append((at, visible))
                elif may_go:
                    kept = at
        return beyond, kept
