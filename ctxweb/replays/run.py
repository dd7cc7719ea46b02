"""One replay of a stored session, and its figures: what fired, what each layer took, how large every prompt would have been."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from compaction.analysis.estimates import Estimator, constants_for
from compaction.counters.units import Unit, unit_named
from compaction.errors import ProtocolError
from compaction.history import FoldedCompaction, History
from compaction.layers.clear_old_results import ClearOldResults
from compaction.layers.clear_thinking import ClearThinking
from compaction.layers.limit_by_kind import LimitByKind
from compaction.layers.mask_tool_results import MaskToolResults
from compaction.layers.result_budget import ResultBudget
from compaction.layers.snip_messages import SnipMessages
from compaction.layers.spill_results import SpillResults
from compaction.policy import Policy
from compaction.replay.firing import Firing, Replay
from compaction.replay.history import LEFT_OUT, history_of
from compaction.replay.replayable import Replayable
from compaction.replay.run import replay
from compaction.transcript import Finding
from ctxweb.layer_runs import LayerRun
from ctxweb.models import Revision, Session
from ctxweb.replays.asked import ReplayAsked, ReplayRefused
from ctxweb.vocabulary import MECHANISM_ACTION

MOST_LOOKS = 2_000_000  # calls × messages that a page looks at while its reader waits
# of these compaction.replay.wakes tells when they can act
FORESEEN = (ResultBudget, SpillResults, SnipMessages, ClearOldResults, ClearThinking, LimitByKind, MaskToolResults)


@dataclass(frozen=True, kw_only=True)
class ReplayRun:
    """A replay. `estimator` gives the sizes of its blocks on the scale of the recorded history, `counts` the exact tokens of
    texts by digest, those that the layers wrote included."""

    asked: ReplayAsked
    policy: Policy
    lane: Replayable
    replay: Replay
    estimator: Estimator
    counts: Mapping[bytes, int]

    @cached_property
    def history(self) -> History:
        """Spans and ledger of the replay: folded when asked for, because a long lane takes half a second."""
        return history_of(self.replay, self.estimator)

    @property
    def unit(self) -> Unit:
        """The unit that decided."""
        return unit_named(self.replay.policy.unit)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.replay.findings

    @property
    def firings(self) -> Iterator[tuple[Firing, FoldedCompaction]]:
        """Each firing with what the fold made of it."""
        return zip(self.replay.firings, self.compactions, strict=True)

    @property
    def compactions(self) -> tuple[FoldedCompaction, ...]:
        return tuple(folded for folded in self.history.compactions if LEFT_OUT not in folded.compaction.flags)


def replay_run(*, session: Session, revision: Revision, lane: Replayable, asked: ReplayAsked) -> ReplayRun:
    """Replay a lane; the caller holds it (`replayable_lane`). Raises ReplayRefused."""
    policy = asked.policy(lane)
    window = policy.window if "window" in asked.limits else None
    try:
        found = replay(lane, policy, count=asked.count, summaries=asked.summaries, orphans=asked.orphans, window=window)
    except ProtocolError as error:
        raise ReplayRefused(str(error), field="orphans") from error
    counts = _counts(found)
    estimator = Estimator(constants_for(session.model, revision.facts.get("source_format", session.format)), counts)
    return ReplayRun(asked=asked, policy=policy, lane=lane, replay=found, estimator=estimator, counts=counts)


def is_costly(policy: Policy, lane: Replayable) -> bool:
    """Whether a replay looks at every call of a long lane: a layer that always runs, and of which nobody knows when it can act."""
    looked_at = any(stage.when in ("always", "arrival") and not isinstance(stage.layer, FORESEEN) for stage in policy.stages)
    return looked_at and len(lane.calls) * len(lane.arrivals) > MOST_LOOKS


def _counts(found: Replay) -> ChainMap[bytes, int]:
    """Counts of the texts of the lane, and of those that the layers wrote."""
    pricer = found.rendered.pricer
    written = {body.digest: pricer.tokens(body) for body in found.bodies()}
    return ChainMap(written, found.session.counts)


def layer_runs(*, policy: Policy, firing: Firing) -> tuple[LayerRun, ...]:
    """What each layer did in one firing."""
    layers = {stage.layer.id: stage.layer for stage in policy.stages}
    verbs = {edit.layer: edit.verb for edit in reversed(firing.compacted.edits)}
    return tuple(
        LayerRun(
            layer=report.layer,
            title=layers[report.layer].title,
            action=verbs.get(report.layer) or MECHANISM_ACTION[layers[report.layer].mechanism],
            ran=report.ran,
            skipped=report.skipped,
            own_before=report.own_before,
            own_after=report.own_after,
            exact_before=report.tokens_before,
            exact_after=report.tokens_after,
            edits=report.edits,
            asked=len(report.asked),
            failed=sum(asked.outcome != "ok" for asked in report.asked),
        )
        for report in firing.compacted.reports
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerBalance:
    """What one layer did in the whole replay: it `ran` so often, changed something `changed` times and took so much, in the
    policy's own unit and in exact tokens. `why_not` is the reason of the last firing at which it changed nothing."""

    layer: str
    title: str
    action: str
    lossy: bool
    ran: int
    changed: int
    edits: int
    own: int
    exact: int
    asked: int
    failed: int
    why_not: str


def layer_balances(*, policy: Policy, runs: list[tuple[LayerRun, ...]]) -> tuple[LayerBalance, ...]:
    """Every layer of the policy, in its order, over all firings."""
    by_layer: dict[str, list[LayerRun]] = {stage.layer.id: [] for stage in policy.stages}
    for run in (run for of_firing in runs for run in of_firing):
        by_layer[run.layer].append(run)
    layers = {stage.layer.id: stage.layer for stage in policy.stages}
    return tuple(
        LayerBalance(
            layer=name,
            title=layers[name].title,
            action=next((run.action for run in own if run.edits), MECHANISM_ACTION[layers[name].mechanism]),
            lossy=layers[name].lossy,
            ran=sum(run.ran for run in own),
            changed=sum(run.edits > 0 for run in own),
            edits=sum(run.edits for run in own),
            own=sum(run.own_before - run.own_after for run in own),
            exact=sum(run.exact_before - run.exact_after for run in own),
            asked=sum(run.asked for run in own),
            failed=sum(run.failed for run in own),
            why_not=next((run.skipped for run in reversed(own) if run.skipped), ""),
        )
        for name, own in by_layer.items()
    )
