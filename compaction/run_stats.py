"""What a prompt came to after a run, in a line: messages, tokens, and the share of the trigger."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.pipeline import Compacted
from compaction.policy import Policy
from compaction.triggers import measured


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStats:
    """`tokens` are exact where the view's pricer counts exactly. `size` is what the policy's trigger compares, in its unit;
    `trigger` the size at which it fires, None where it has none or no window is known."""

    messages: int
    tokens: int
    size: int
    trigger: float | None

    @property
    def share(self) -> float | None:
        """Size ÷ trigger: a run starts at 1."""
        return self.size / self.trigger if self.trigger else None

    def __str__(self) -> str:
        share = "no trigger" if self.share is None else f"{self.share:.0%} of the trigger"
        return f"{self.messages} messages, {self.tokens:,} tokens, {share}"


def stats(compacted: Compacted, policy: Policy, *, hidden: int = 0) -> RunStats:
    """The figures of the view that a run left. `hidden`: what the prompt holds beside the view, in tokens."""
    return RunStats(
        messages=len(compacted.view.messages),
        tokens=compacted.tokens_after,
        size=measured(policy.trigger, compacted.view, hidden),
        trigger=compacted.trigger_value,
    )
