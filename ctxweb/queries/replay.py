"""A replay on the fly: what fired, what each layer took in both units, how large every prompt would have been, beside the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.policy_json import policy_for, setting_names
from compaction.triggers import threshold
from ctxweb.charts.bins import CallFigures
from ctxweb.layer_runs import LayerRun, unit_word
from ctxweb.models import History, ModelCall
from ctxweb.queries.ledger import EVERYTHING
from ctxweb.queries.ledger_sums import LayerTotal, ledger_totals
from ctxweb.queries.policies import PolicyRow, policy_row
from ctxweb.queries.readable import Lane
from ctxweb.queries.readout import hidden_overhead
from ctxweb.replays.artifacts import Artifact, artifacts
from ctxweb.replays.asked import ReplayAsked, ReplayRefused, history_id
from ctxweb.replays.figures import Deciding, FiringSizes, deciding, replay_sizes
from ctxweb.replays.lane import replayable_lane
from ctxweb.replays.run import LayerBalance, ReplayRun, is_costly, layer_balances, layer_runs, replay_run

MOST_FIRINGS = 40  # told one by one; a stored replay's ledger has all
MOST_ARTIFACTS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class SizePair:
    """One size in the policy's own unit and in exact tokens."""

    own: int
    exact: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringRow:
    """One run of the policy before `call`. `moment` is why it ran; sizes are those of the view, `estimate_*` ≈ tokens."""

    ordinal: int
    call: int
    moment: str
    status: str
    before: SizePair
    after: SizePair
    estimate_before: int
    estimate_after: int
    edits: int
    runs: tuple[LayerRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayFinding:
    code: str
    detail: str
    line: int | None
    seq: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayDetail:
    """A replay of one policy over the lane. `history` is the id that it has, or would have, once it is kept.

    `usual` are the policy's own settings for this lane, `limits` those that were set beyond them. `arrived` is the size of everything
    that was ever in the transcript; arrived − what the layers took = `last`, the view of the last call, in both units.
    `hidden`: exact tokens of the first prompt beside its messages. `sent` and `recorded_sent` are sums over all calls, `sent` of
    estimates. `firings` counts all, `told` are the first of them, and so with artifacts.
    """

    history: str
    is_kept: bool
    session: str
    policy: PolicyRow
    usual: dict[str, Any]
    limits: dict[str, Any]
    count: str
    unit: str
    unit_title: str
    summaries: str
    orphans: str
    calls: int
    window: int | None
    hidden: int
    trigger: float | None
    counts_messages_only: bool
    hard_limit: int | None
    arrived: SizePair
    last: SizePair
    peak: SizePair
    peak_call: int | None
    sent: int
    recorded_sent: int | None
    firings: int
    told: tuple[FiringRow, ...]
    layers: tuple[LayerBalance, ...]
    recorded: tuple[LayerTotal, ...]
    findings: tuple[ReplayFinding, ...]
    artifact_count: int
    artifacts: tuple[Artifact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The detail with what its map is drawn from."""

    detail: ReplayDetail
    calls: tuple[CallFigures, ...]
    sizes: tuple[FiringSizes, ...]
    rows: tuple[FiringRow, ...]
    line: Deciding | None
    overhead: int | None
    run: ReplayRun


def replayed(*, lane: Lane, asked: ReplayAsked, whatever: bool = False) -> Replayed:
    """Replay the lane. Raises ReplayRefused, also where it is so long that a job has to do it, unless `whatever` it takes."""
    with replayable_lane(session=lane.session, revision=lane.revision) as stored:
        if not whatever and is_costly(asked.policy(stored), stored):
            message = "this policy looks at every call of a long lane: keep the replay by POST …/replays, or use `manage.py replay`"
            raise ReplayRefused(message, field="policy")
        run = replay_run(session=lane.session, revision=lane.revision, lane=stored, asked=asked)
        overhead = hidden_overhead(revision_id=lane.revision.pk)
        line = deciding(run, overhead=overhead or 0)
        sizes = replay_sizes(run, line=line)
        rows = _firing_rows(run, sizes.firings)
        detail = _detail(lane, run, rows, sent=sum(call.estimate + (overhead or 0) for call in sizes.calls))
        if lane.session.call_count <= FOLDED_CALLS:
            run.history  # noqa: B018  folded while this thread has the lane
    return Replayed(detail=detail, calls=sizes.calls, sizes=sizes.firings, rows=rows, line=line, overhead=overhead, run=run)


FOLDED_CALLS = 600  # a longer lane is drawn by kind, from its sizes alone


def _detail(lane: Lane, run: ReplayRun, rows: Sequence[FiringRow], *, sent: int) -> ReplayDetail:
    asked, stored = run.asked, run.lane
    found = artifacts(run)
    public_id = history_id(session=lane.session.public_id, policy=run.policy, asked=asked)
    usual = policy_for(asked.base, stored.facts.kind, starts_from_summary=stored.starts_from_summary)
    window = run.replay.window
    trigger = run.replay.policy.trigger
    peak_call, peak = _peak(run)
    return ReplayDetail(
        history=public_id,
        is_kept=History.objects.filter(revision=lane.revision, public_id=public_id).exists(),
        session=lane.session.public_id,
        policy=policy_row(run.policy),
        usual=_usual(setting_names(usual), window=window),
        limits=dict(asked.limits),
        count=asked.count,
        unit=run.unit.id,
        unit_title=unit_word(run.unit.id),
        summaries=asked.summaries,
        orphans=asked.orphans,
        calls=lane.session.call_count,
        window=window,
        hidden=stored.hidden,
        trigger=None if trigger is None else threshold(trigger, window),
        counts_messages_only=trigger is not None and trigger.scope == "messages",
        hard_limit=run.policy.guard.hard_limit,
        arrived=_arrived(run),
        last=_size_at(run, lane.session.call_count),
        peak=peak,
        peak_call=peak_call,
        sent=sent,
        recorded_sent=_recorded_sent(lane),
        firings=len(rows),
        told=tuple(rows[:MOST_FIRINGS]),
        layers=layer_balances(policy=run.policy, runs=[row.runs for row in rows]),
        recorded=ledger_totals(lane=lane, filters=EVERYTHING).layers,
        findings=tuple(ReplayFinding(code=each.code, detail=each.detail, line=each.line, seq=each.seq) for each in run.findings),
        artifact_count=len(found),
        artifacts=found[:MOST_ARTIFACTS],
    )


def _usual(settings: Mapping[str, Any], *, window: int | None) -> dict[str, Any]:
    """The policy's settings; a window that it leaves open is that of the session."""
    return {**settings, "window": settings.get("window") if window is None else window}


def _firing_rows(run: ReplayRun, sizes: Sequence[FiringSizes]) -> tuple[FiringRow, ...]:
    return tuple(
        FiringRow(
            ordinal=ordinal,
            call=firing.call,
            moment=firing.moment,
            status=firing.compacted.status,
            before=SizePair(own=firing.compacted.own_before, exact=firing.compacted.tokens_before),
            after=SizePair(own=firing.compacted.own_after, exact=firing.compacted.tokens_after),
            estimate_before=size.before,
            estimate_after=size.after,
            edits=len(firing.compacted.edits),
            runs=layer_runs(policy=run.policy, firing=firing),
        )
        for ordinal, (firing, size) in enumerate(zip(run.replay.firings, sizes, strict=True), start=1)
    )


def _arrived(run: ReplayRun) -> SizePair:
    """The whole transcript as one view, as far as calls saw it."""
    transcript = run.replay.rendered
    count = run.lane.arrived(run.lane.calls[-1].n) if run.lane.calls else 0
    around = transcript.pricer.unit.view(count)
    return SizePair(own=transcript.own[count] + around, exact=transcript.tokens[count])


def _size_at(run: ReplayRun, n: int) -> SizePair:
    if not n:
        return SizePair(own=0, exact=0)
    totals = run.replay.totals(n)
    return SizePair(own=totals.own, exact=totals.tokens)


def _peak(run: ReplayRun) -> tuple[int | None, SizePair]:
    """The call with the largest view, in the unit that decides."""
    found = [(run.replay.totals(call.n), call.n) for call in run.lane.calls]
    if not found:
        return None, SizePair(own=0, exact=0)
    totals, n = max(found, key=lambda each: (each[0].own, -each[1]))
    return n, SizePair(own=totals.own, exact=totals.tokens)


def _recorded_sent(lane: Lane) -> int | None:
    """Reported prompt tokens over all calls, None unless every call reports its own."""
    sizes = list(ModelCall.objects.filter(revision=lane.revision).values_list("prompt_tokens", flat=True))
    known = [size for size in sizes if size is not None]
    return sum(known) if known and len(known) == len(sizes) else None
