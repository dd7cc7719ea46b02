"""Rules between the parts of a policy: what stays is less than what fires, and what fires is within the window."""

from __future__ import annotations

from compaction.errors import PolicyError
from compaction.policy import Policy, Stage, Trigger
from compaction.triggers import threshold

SIZES = ("keep_tokens", "keep_user_tokens")  # limits of layers that say how much stays, in the policy's own unit
RATIOS = ("keep_ratio",)  # of the window
COUNTS = ("keep_messages", "keep_first")  # together, in messages


def check_policy(policy: Policy) -> Policy:
    """The policy itself; PolicyError with the field of a rule that it breaks."""
    for index, stage in enumerate(policy.stages):
        trigger = (stage.trigger or policy.trigger) if stage.when == "over" else None
        if trigger is not None:
            _check_window(trigger, policy.window, f"stages.{index}.trigger.value" if stage.trigger else "trigger.value")
            _check_kept(stage, trigger, policy.window, f"stages.{index}.layer")
    return policy


def _check_window(trigger: Trigger, window: int | None, place: str) -> None:
    if window is None or trigger.kind not in ("tokens", "headroom"):
        return
    if trigger.value > window or (trigger.kind == "headroom" and trigger.value >= window):
        raise PolicyError(f"{place} ({trigger.value:g}) leaves nothing of the window ({window}): lower it", field=place)


def _check_kept(stage: Stage, trigger: Trigger, window: int | None, place: str) -> None:
    if trigger.kind in ("messages", "events"):
        counts = [getattr(stage.layer, name, None) or 0 for name in COUNTS]
        _check_below(sum(counts) if counts[0] else None, trigger.value, trigger, f"{place}.{COUNTS[0]}")
        return
    sizes = [name for name in SIZES if getattr(stage.layer, name, None) is not None]
    for name in sizes:
        _check_below(getattr(stage.layer, name), threshold(trigger, window), trigger, f"{place}.{name}")
    for name in () if sizes else RATIOS:
        _check_ratio(getattr(stage.layer, name, None), trigger, window, f"{place}.{name}")


def _check_ratio(ratio: float | None, trigger: Trigger, window: int | None, place: str) -> None:
    if ratio is None:
        return
    if trigger.kind == "ratio":
        _check_below(ratio, trigger.value, trigger, place)
    elif window is not None and trigger.kind in ("tokens", "headroom"):
        _check_below(ratio * window, threshold(trigger, window), trigger, place)


def _check_below(kept: float | None, limit: float | None, trigger: Trigger, place: str) -> None:
    if kept is None or limit is None:
        return
    if kept > limit or (kept == limit and trigger.inclusive):
        raise PolicyError(f"{place} keeps {kept:g}, and the trigger is {limit:g}: what stays must be less", field=place)
