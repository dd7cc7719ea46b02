"""The only loop over layers: the stages of a policy, in order, over one view.

The result is the start of the next call. Nothing is asked of a layer but its plan; what a plan does is what `PromptView.apply`
makes of it, so the reports and edits here are complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeGuard

from compaction.ask import Ask, Asked
from compaction.counters.units import unit_named
from compaction.errors import ViewLimitExceeded
from compaction.layers.base import Layer, LooksBack
from compaction.limits import Limits
from compaction.messages import Message
from compaction.policy import Policy, Stage, Trigger, When
from compaction.pricing import Pricer
from compaction.protocol import validate_view
from compaction.transcript import Edit
from compaction.triggers import is_over, measured, shortfall, threshold
from compaction.view import Applied, Plan, PromptView
from compaction.wire import read_wire, write_wire

Moment = Literal["arrival", "call", "overflow", "asked"]
"""A result just came; a call is about to be made; the provider refused the prompt as too long; the agent asked for it."""

STAGES_AT: dict[Moment, tuple[When, ...]] = {
    "arrival": ("arrival",),
    "call": ("always", "over"),
    "overflow": ("overflow",),
    "asked": ("over",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerReport:
    """What one stage did. `own_…` in the view's unit, `tokens_…` exact; `edits` counts them. `skipped` says why it did not run,
    or why it changed nothing; `asked` what the summarizer was asked."""

    layer: str
    ran: bool
    skipped: str
    own_before: int
    own_after: int
    tokens_before: int
    tokens_after: int
    edits: int
    asked: tuple[Asked, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What one run came to. `edits` name their layers; `added` are the messages that they put. `trigger_value`: the size at
    which the policy's trigger fires, None where it has none or no window is known. `failed`: a summary was asked for and
    nothing changed."""

    view: PromptView
    reports: tuple[LayerReport, ...]
    edits: tuple[Edit, ...]
    added: tuple[Message, ...]
    status: Literal["ok", "noop", "failed", "limit"]
    trigger_value: float | None
    own_before: int
    own_after: int
    tokens_before: int
    tokens_after: int

    @property
    def applied_layers(self) -> tuple[str, ...]:
        """The layers that made the view smaller in its own unit."""
        return tuple(report.layer for report in self.reports if report.own_after < report.own_before)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactedMessages:
    """Wire messages after a run; untouched ones are the caller's own objects. `durable` is what the caller gave, the same object."""

    messages: list[Mapping[str, object]]
    compacted: Compacted
    durable: object = None


def compact(
    view: PromptView,
    policy: Policy,
    ask: Ask,
    *,
    moment: Moment = "call",
    window: int | None = None,
    hidden: int = 0,
    overflow: bool = False,
) -> Compacted:
    """Run the policy's stages of this moment over a view that was made in the policy's unit.

    `window` is the context window in tokens, `hidden` what the prompt holds beside the view. Raises ViewLimitExceeded where
    the view is at or above the hard limit after all, and whatever a layer lets through (SummarizerError, StoreError).
    """
    run = _Run(view, policy, ask, "overflow" if overflow else moment, policy.window if window is None else window, hidden)
    for stage in policy.stages:
        if stage.when in STAGES_AT[run.moment]:
            run.stage(stage)
    return run.finished()


def compact_if_needed(
    messages: Sequence[Mapping[str, object]],
    policy: Policy,
    ask: Ask,
    *,
    pricer: Pricer | None = None,
    window: int | None = None,
    hidden: int = 0,
    moment: Moment = "call",
    durable: object = None,
) -> CompactedMessages:
    """Run a policy over wire messages, which stay as they are. Raises ProtocolError, even below the trigger, and as `compact`.

    Without a `pricer` the exact counts of the result are estimates. No layer and no summary sees `durable`.
    """
    view = read_wire(messages, pricer or Pricer(unit_named(policy.unit)))
    validate_view(view)
    compacted = compact(view, policy, ask, moment=moment, window=window, hidden=hidden)
    return CompactedMessages(messages=write_wire(compacted.view), compacted=compacted, durable=durable)


class _Run:
    """One run: the view as it stands, and what led there."""

    def __init__(self, view: PromptView, policy: Policy, ask: Ask, moment: Moment, window: int | None, hidden: int) -> None:
        self.moment: Moment = moment
        self._first = self._view = view
        self._policy = policy
        self._ask = ask
        self._window = window
        self._hidden = hidden
        self._limit = None if policy.trigger is None else threshold(policy.trigger, window)
        self._limits = _limits(policy, self._limit, window)
        self._fired = False
        self._reports: list[LayerReport] = []
        self._edits: list[Edit] = []
        self._added: list[Message] = []

    def stage(self, stage: Stage) -> None:
        """Run one stage, or note why not."""
        before, edits, asked = self._view, len(self._edits), list[Asked]()
        skipped = self._why_not(stage)
        ran = not skipped
        if ran:
            skipped = self._work(stage, asked)
        after = self._view
        self._reports.append(
            LayerReport(
                layer=stage.layer.id,
                ran=ran,
                skipped=skipped,
                own_before=before.own,
                own_after=after.own,
                tokens_before=before.tokens,
                tokens_after=after.tokens,
                edits=len(self._edits) - edits,
                asked=tuple(asked),
            )
        )

    def finished(self) -> Compacted:
        """What it came to; ViewLimitExceeded where that is at or above the hard limit."""
        compacted = Compacted(
            view=self._view,
            reports=tuple(self._reports),
            edits=tuple(self._edits),
            added=tuple(self._added),
            status=self._status(),
            trigger_value=self._limit,
            own_before=self._first.own,
            own_after=self._view.own,
            tokens_before=self._first.tokens,
            tokens_after=self._view.tokens,
        )
        hard_limit = self._policy.guard.hard_limit
        if hard_limit is not None and self._fired and measured(self._policy.trigger, self._view, self._hidden) >= hard_limit:
            raise ViewLimitExceeded(
                replace(compacted, status="limit"),
                hard_limit=hard_limit,
                before=compacted.own_before,
                after=compacted.own_after,
                applied_layers=compacted.applied_layers,
            )
        return compacted

    def _status(self) -> Literal["ok", "noop", "failed"]:
        if self._edits:
            return "ok"
        return "failed" if any(report.asked for report in self._reports) else "noop"

    def _why_not(self, stage: Stage) -> str:
        """Why a stage does not run now, "" where it does."""
        if stage.when != "over" or self.moment == "asked":
            return ""
        if stage.trigger is None and self._fired and self._policy.stop == "after_all":
            return ""
        trigger, limit = self._trigger_of(stage)
        if trigger is None:
            return "there is no trigger"
        size = measured(trigger, self._view, self._hidden)
        if not is_over(trigger, size, limit):
            return shortfall(size, trigger, limit)
        self._fired = self._fired or stage.trigger is None
        return ""

    def _trigger_of(self, stage: Stage) -> tuple[Trigger | None, float | None]:
        if stage.trigger is None:
            return self._policy.trigger, self._limit
        return stage.trigger, threshold(stage.trigger, self._window)

    def _work(self, stage: Stage, asked: list[Asked]) -> str:
        """Let the layer plan and apply its plan; once more where a summary was refused, or left the view over its trigger.

        Returns why nothing changed, "" where something did.
        """
        skipped, start = "", self._view
        for _ in range(1 + self._policy.guard.retries):
            plan = self._plan(stage.layer)
            applied = self._view.apply(plan, layer=stage.layer.id)
            refusal = self._refusal(plan, applied)
            asked.extend(_refused(plan.asked, refusal) if refusal else plan.asked)
            skipped = refusal or plan.skipped
            if not refusal:
                self._take(stage.layer, plan, applied)
            if not plan.asked or (not refusal and not self._again(stage, plan)):
                break
        return skipped if self._view is start else ""

    def _plan(self, layer: Layer) -> Plan:
        if _looks_back(layer):
            return layer.plan_since(self._first, self._view, self._limits, self._ask)
        return layer.plan(self._view, self._limits, self._ask)

    def _take(self, layer: Layer, plan: Plan, applied: Applied) -> None:
        self._view = applied.view
        if plan.settled:
            self._view.settled[layer] = plan.settled
        self._edits.extend(applied.edits)
        self._added.extend(plan.added)

    def _refusal(self, plan: Plan, applied: Applied) -> str:
        """Why a summary is not taken, "" where it is."""
        before, after = applied.before.own, applied.view.own
        if not self._policy.guard.must_shrink or not plan.asked or not plan.added or after < before:
            return ""
        return f"not smaller: {before:,} would become {after:,}"

    def _again(self, stage: Stage, plan: Plan) -> bool:
        """Whether a summary is asked for again: it was refused, or the view is still over what the stage runs over."""
        if not plan.edits:
            return plan.asked[-1].outcome in ("blank", "not_smaller")
        trigger, limit = self._trigger_of(stage)
        return stage.when == "over" and trigger is not None and is_over(trigger, measured(trigger, self._view, self._hidden), limit)


def _looks_back(layer: Layer) -> TypeGuard[LooksBack]:
    """By the one method: a check of the whole protocol takes longer than most plans."""
    return hasattr(layer, "plan_since")


def _refused(asked: tuple[Asked, ...], reason: str) -> tuple[Asked, ...]:
    return (*asked[:-1], replace(asked[-1], outcome="not_smaller", reason=reason))


def _limits(policy: Policy, limit: float | None, window: int | None) -> Limits:
    """What layers are told, in the policy's unit. A window below a trigger that does not depend on it decides nothing here."""
    trigger = policy.trigger
    in_unit = trigger is not None and limit is not None and trigger.kind not in ("messages", "events") and limit >= 1
    size = int(limit) if in_unit and limit is not None else None
    hard_limit = policy.guard.hard_limit
    lower = max(size or 0, hard_limit or 0)
    return Limits(window=window if window is not None and window >= lower else None, trigger=size, hard_limit=hard_limit)
