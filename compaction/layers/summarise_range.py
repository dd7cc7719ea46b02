"""Everything but the newest part of a view becomes one checkpoint, as mini-harness 09 and dsh compact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.checkpoints import checkpoint_text, checkpoint_texts
from compaction.layers.base import start_with_pairs
from compaction.layers.checkpoint_plan import Checkpoint, checkpoint_plan
from compaction.layers.checks import check_shares, check_whole
from compaction.limits import Limits
from compaction.ranges import tail_from
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView, ViewMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariseRange:
    """The newest messages of at least `keep_tokens`, else of `keep_ratio` of the window, stay, and at least one; so do system
    messages at the head. A cut inside an interaction moves towards the head, and the plan says so.

    A checkpoint that is blank or not smaller than what it stands for is refused. It is a user message of three blocks
    (`in_blocks`), or of one. Sizes are in the policy's own unit; `summary_tokens` is the most that is asked for.
    """

    id: ClassVar[str] = "summarise_range"
    title: ClassVar[str] = "All but the newest part summarised"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "checkpoint_replace"
    idempotent: ClassVar[bool] = False

    keep_ratio: float = 0.16
    keep_tokens: int | None = None
    summary_tokens: int = 8192
    in_blocks: bool = True

    def __post_init__(self) -> None:
        check_whole(self, "keep_tokens")
        check_whole(self, "summary_tokens", at_least=1)
        check_shares(self, "keep_ratio")

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One range edit with its checkpoint; none where nothing may go, or no summary was good enough."""
        keep = self._keep(limits)
        if keep is None:
            return Plan(skipped="keep_ratio needs a window, and none is known")
        head = _system_messages(view.messages)
        wanted = tail_from([message.own for message in view.messages], keep)
        start = start_with_pairs(view.messages, wanted)
        if start <= head:
            return Plan(skipped=f"the newest {keep:,} leave nothing of {len(view.messages)} messages to summarise")
        checkpoint = Checkpoint(
            messages=view.messages[head:start],
            most_tokens=self.summary_tokens,
            framed=_three_blocks if self.in_blocks else _one_block,
            note=f"the cut moved from message {wanted + 1} to {start + 1}, so that no call loses its result" if start < wanted else "",
        )
        return checkpoint_plan(view, checkpoint, ask)

    def _keep(self, limits: Limits) -> int | None:
        if self.keep_tokens is not None:
            return self.keep_tokens
        return None if limits.window is None else int(limits.window * self.keep_ratio)


def _three_blocks(summary: str) -> tuple[str, ...]:
    return checkpoint_texts((summary,))


def _one_block(summary: str) -> tuple[str, ...]:
    return (checkpoint_text(summary),)


def _system_messages(messages: Sequence[ViewMessage]) -> int:
    """How many messages at the head set the agent up and stay."""
    return next((index for index, message in enumerate(messages) if message.role not in ("system", "developer")), len(messages))
