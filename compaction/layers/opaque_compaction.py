"""The provider compacts: everything becomes one item that only it can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import Ask
from compaction.layers.checkpoint_plan import Checkpoint, checkpoint_plan
from compaction.layers.checks import check_whole
from compaction.layers.keep_user_texts import keep_user_texts
from compaction.limits import Limits
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaqueCompaction:
    """Puts one compaction block in the place of all messages but the newest texts of a person up to `keep_user_tokens`.

    What the item holds is not known. The summarizer's answer stands in for its size, `item_tokens` at most; that it shrinks is
    the provider's promise and is not checked.
    """

    id: ClassVar[str] = "opaque_compaction"
    title: ClassVar[str] = "Compacted by the provider"
    lossy: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism] = "remote_opaque"
    idempotent: ClassVar[bool] = False

    keep_user_tokens: int = 0
    item_tokens: int = 1_500

    def __post_init__(self) -> None:
        check_whole(self, "keep_user_tokens")
        check_whole(self, "item_tokens", at_least=1)

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        """One item, with the edit of a kept text that is over the budget."""
        kept = keep_user_texts(view, self.keep_user_tokens)
        messages = [message for index, message in enumerate(view.messages) if index not in kept.positions]
        if not messages:
            return Plan(skipped=f"all {len(view.messages)} messages are kept")
        checkpoint = Checkpoint(
            messages=messages,
            most_tokens=self.item_tokens,
            opening="",
            kind="compaction",
            must_shrink=False,
            after=kept.last,
            beside=kept.cuts,
        )
        return checkpoint_plan(view, checkpoint, ask)
