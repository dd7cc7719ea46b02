"""The three seed policies with chosen limits, beside the plain engine with the same, and how both replays are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from compaction.ask import stub_summary
from compaction.checkpoints import checkpoint_texts
from compaction.pipeline import Compacted
from compaction.policies import policy_named
from compaction.policy import Policy
from compaction.policy_json import with_settings
from compaction.replay.firing import Replay
from compaction.replay.replayable import Replayable
from compaction.replay.run import replay
from tests.replay_oracle import Change, Count, Fired, PlainReplay, PlainSession, Run
from tests.replay_oracle_policies import S08, S14, Dsh


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
    given = {
        "trigger": trigger,
        "hard_limit": hard_limit,
        "truncate_results.max_tool_result_tokens": result_tokens,
        "prune_old_messages.keep_recent_messages": keep,
        "summarise_old.most_tokens": summary_tokens,
    }
    settings = {"trigger": trigger, "hard_limit": hard_limit, "max_tool_result_tokens": result_tokens, "keep_recent_messages": keep}
    return Tried(with_settings(policy_named("workbuddy-s14"), given), S14, settings, summary_tokens)


def s08(
    *, trigger: int, messages: int = 50, batch: int = 200_000, store: int = 30_000, preview: int = 2_000, summary_tokens: int = 1_500
) -> Tried:
    given = {
        "trigger": trigger,
        "snip_messages.max_messages": messages,
        "result_budget.batch_chars": batch,
        "result_budget.store_above": store,
        "result_budget.preview_chars": preview,
        "summarise_everything.summary_tokens": summary_tokens,
        "summarise_reactive.summary_tokens": summary_tokens,
    }
    settings = {"trigger": trigger, "max_messages": messages, "batch_chars": batch, "store_above": store, "preview_chars": preview}
    return Tried(with_settings(policy_named("learn-claude-code-s08"), given), S08, settings, summary_tokens)


def dsh(*, window: int, threshold: int = 8_192, head: int = 4_096, tail: int = 1_024, summary_tokens: int = 1_500) -> Tried:
    sizes = {"head_chars": head, "tail_chars": tail, "threshold_chars": threshold}
    pruning = {f"prune_results.{name}": size for name, size in sizes.items()}
    given = {"window": window, **pruning, "summarise_range.summary_tokens": summary_tokens}
    published = {"ratio": 0.8, "keep_ratio": 0.16, "retries": 1, "frame": lambda text: checkpoint_texts((text,))}
    return Tried(with_settings(policy_named("dsh-basic"), given), Dsh, {"window": window, **published, **sizes}, summary_tokens)


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


def _changes(replayed: Replay, compacted: Compacted) -> list[Change]:
    pricer = replayed.rendered.pricer
    added = {message.seq: message for message in compacted.added}
    changes: dict[str, Change] = {}
    for edit in compacted.edits:
        layer = edit.layer or ""
        old = changes.get(layer, Change(layer, frozenset(), {}, {}))
        texts = {str(edit.block): pricer.text(edit.body)} if edit.body is not None else {}
        put = {str(block.id): pricer.text(block.body) for seq in edit.puts for block in added[seq].blocks}
        changes[layer] = Change(layer, old.taken | frozenset(map(str, edit.takes)), {**old.texts, **texts}, {**old.put, **put})
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
