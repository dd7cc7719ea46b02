"""The three seed policies with chosen limits, beside the plain engine with the same, and how both replays are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from compaction.ask import stub_summary
from compaction.checkpoints import checkpoint_texts
from compaction.layers.clear_old_results import ClearOldResults
from compaction.layers.dedup_file_reads import DedupFileReads
from compaction.layers.prune_old_messages import PruneOldMessages
from compaction.layers.prune_results import PruneResults
from compaction.layers.result_budget import ResultBudget
from compaction.layers.snip_messages import SnipMessages
from compaction.layers.summarise_everything import SummariseEverything
from compaction.layers.summarise_old import SummariseOld
from compaction.layers.summarise_range import SummariseRange
from compaction.layers.summarise_reactive import SummariseReactive
from compaction.layers.truncate_results import TruncateResults
from compaction.policy import Guard, Policy, Provenance, Stage, Trigger
from compaction.replay.firing import Replay
from compaction.replay.replayable import Replayable
from compaction.replay.run import replay
from tests.replay_oracle import Change, Count, Fired, PlainReplay, PlainSession, Run
from tests.replay_oracle_policies import S08, S14, Dsh

NOWHERE = Provenance(label="test", source="test", as_of="2026-11", grade="U")


@dataclass(frozen=True)
class Tried:
    """A policy as the engine and as the plain engine know it."""

    policy: Policy
    plain: type[Run]
    settings: dict[str, Any]
    summary_tokens: int

    def expected(self, session: PlainSession, count: Count) -> PlainReplay:
        return self.plain(session, self.settings, count=count, summary=stub_summary(self.summary_tokens)).replay()


def s14(*, trigger: int, hard_limit: int, result_tokens: int = 5_000, keep: int = 6, summary_tokens: int = 1_500) -> Tried:
    layers = (
        TruncateResults(max_tool_result_tokens=result_tokens),
        DedupFileReads(),
        PruneOldMessages(keep_recent_messages=keep),
        SummariseOld(most_tokens=summary_tokens),
    )
    policy = Policy(
        id="s14",
        title="s14",
        unit="s14_chars4",
        stages=tuple(Stage(layer=layer) for layer in layers),
        provenance=NOWHERE,
        trigger=Trigger(kind="tokens", value=trigger),
        stop="below",
        guard=Guard(must_shrink=True, hard_limit=hard_limit),
    )
    settings = {"trigger": trigger, "hard_limit": hard_limit, "max_tool_result_tokens": result_tokens, "keep_recent_messages": keep}
    return Tried(policy, S14, settings, summary_tokens)


def s08(
    *, trigger: int, messages: int = 50, batch: int = 200_000, store: int = 30_000, preview: int = 2_000, summary_tokens: int = 1_500
) -> Tried:
    always = (
        ResultBudget(batch_chars=batch, store_above=store, preview_chars=preview),
        SnipMessages(max_messages=messages),
        ClearOldResults(),
    )
    policy = Policy(
        id="s08",
        title="s08",
        unit="s08_repr",
        stages=(
            *(Stage(layer=layer, when="always") for layer in always),
            Stage(layer=SummariseEverything(summary_tokens=summary_tokens)),
            Stage(layer=SummariseReactive(summary_tokens=summary_tokens), when="overflow"),
        ),
        provenance=NOWHERE,
        trigger=Trigger(kind="characters", value=trigger, inclusive=False),
    )
    settings = {"trigger": trigger, "max_messages": messages, "batch_chars": batch, "store_above": store, "preview_chars": preview}
    return Tried(policy, S08, settings, summary_tokens)


def dsh(
    *, window: int, threshold: int = 8_192, head: int = 4_096, tail: int = 1_024, ratio: float = 0.8, summary_tokens: int = 1_500
) -> Tried:
    prune = PruneResults(threshold_chars=threshold, head_chars=head, tail_chars=tail)
    policy = Policy(
        id="dsh",
        title="dsh",
        unit="dsh_utf16",
        stages=(
            Stage(layer=prune),
            Stage(layer=SummariseRange(summary_tokens=summary_tokens)),
            Stage(layer=prune, when="overflow"),
            Stage(layer=SummariseRange(summary_tokens=summary_tokens, keep_tokens=0), when="overflow"),
        ),
        provenance=NOWHERE,
        trigger=Trigger(kind="ratio", value=ratio, scope="prompt"),
        stop="below",
        guard=Guard(must_shrink=True, retries=1),
        window=window,
    )
    sizes = {"threshold_chars": threshold, "head_chars": head, "tail_chars": tail}
    settings = {
        "window": window,
        "ratio": ratio,
        "keep_ratio": 0.16,
        "retries": 1,
        "frame": lambda text: checkpoint_texts((text,)),
        **sizes,
    }
    return Tried(policy, Dsh, settings, summary_tokens)


def as_plain(replayed: Replay) -> PlainReplay:
    """What the engine came to, as the plain engine says it."""
    calls = dict.fromkeys(firing.call for firing in replayed.firings)
    totals = [replayed.totals(call.n) for call in replayed.session.calls]
    return PlainReplay(
        fired=[_fired(replayed, call) for call in calls],
        totals=[(total.own, total.tokens) for total in totals],
        findings=[(failure.code, failure.call) for failure in replayed.failures],
    )


def _fired(replayed: Replay, call: int) -> Fired:
    firings = [firing for firing in replayed.firings if firing.call == call]
    first, last = firings[0].before, firings[-1].compacted.view
    changes = tuple(change for firing in firings for change in _changes(replayed, firing.compacted))
    return Fired(call, first.own, last.own, first.tokens, last.tokens, changes)


def _changes(replayed: Replay, compacted: Any) -> list[Change]:
    pricer = replayed.rendered.pricer
    added = {message.seq: message for message in compacted.added}
    changes: dict[str, Change] = {}
    for edit in compacted.edits:
        old = changes.get(edit.layer, Change(edit.layer, frozenset(), {}, {}))
        texts = {str(edit.block): pricer.text(edit.body)} if edit.block is not None else {}
        put = {str(block.id): pricer.text(block.body) for seq in edit.puts for block in added[seq].blocks}
        changes[edit.layer] = Change(edit.layer, old.taken | frozenset(map(str, edit.takes)), {**old.texts, **texts}, {**old.put, **put})
    return list(changes.values())


def assert_same(session: Replayable, plain: PlainSession, tried: Tried, count: Count) -> Replay:
    """Every firing, total and edit is that of the plain engine."""
    expected = tried.expected(plain, count)
    replayed = replay(session, tried.policy)
    found = as_plain(replayed)
    assert [fired.call for fired in found.fired] == [fired.call for fired in expected.fired]
    for one, other in zip(found.fired, expected.fired, strict=True):
        assert one == other
    assert found.totals == expected.totals
    assert found.findings == expected.findings
    return replayed
