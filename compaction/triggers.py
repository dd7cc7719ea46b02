"""When a run starts: the size that a trigger compares, and the size that it compares it with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from compaction.policy import Trigger

if TYPE_CHECKING:
    from compaction.view import PromptView


def threshold(trigger: Trigger, window: int | None) -> float | None:
    """The size at which the trigger fires; None where it depends on a window that is not known."""
    if trigger.kind not in ("ratio", "headroom"):
        return trigger.value
    if window is None:
        return None
    size = window * trigger.value if trigger.kind == "ratio" else max(0, window - trigger.value)
    return math.floor(size) if trigger.whole else size


def measured(trigger: Trigger | None, view: PromptView, hidden: int) -> int:
    """The size of the view that a trigger compares. `hidden`: what the prompt holds beside the view, in tokens."""
    if trigger is None:
        return view.own
    if trigger.kind == "messages":
        return len(view.messages)
    if trigger.kind == "events":
        return sum(len(message.seqs) for message in view.messages)
    size = view.own if trigger.count in ("own", "estimate") else view.tokens
    return size + hidden if trigger.scope == "prompt" else size


def is_over(trigger: Trigger, size: int, limit: float | None) -> bool:
    """Whether a size fires the trigger; never where its limit is not known."""
    if limit is None:
        return False
    return size >= limit if trigger.inclusive else size > limit


def shortfall(size: int, trigger: Trigger, limit: float | None) -> str:
    """Why a trigger does not fire, in figures."""
    if limit is None:
        return f"no window is known, and the trigger is a {trigger.kind} of it"
    return f"{size:,} {'<' if trigger.inclusive else '≤'} trigger {limit:,.10g}"
