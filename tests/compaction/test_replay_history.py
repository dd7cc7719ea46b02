"""A replay as a history: the same fold as for what a source recorded, so the same views, sizes and ledger."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction.history import History, view_at
from compaction.messages import Block, Message
from compaction.replay.firing import Replay
from compaction.replay.history import history_of
from compaction.replay.report import fingerprint, report_of, written
from compaction.replay.run import replay
from compaction.transcript import Edit
from tests.compaction.test_replay import SCALED, huge_messages, often_enough
from tests.replay_policies import s14
from tests.replay_sessions import Made, generated

pytestmark = pytest.mark.nodb


class ExactSizes:
    """Sizes for the fold: the exact counts that the replay used."""

    def __init__(self, replayed: Replay) -> None:
        self.pricer = replayed.rendered.pricer

    def whole(self, message: Message, block: Block) -> int:
        return self.pricer.tokens(block.body)

    def edited(self, block: Block, edit: Edit) -> int:
        assert edit.body is not None
        return self.pricer.tokens(edit.body)


def folded(replayed: Replay) -> History:
    return history_of(replayed, ExactSizes(replayed))


@given(seed=st.integers(0, 10**6), odd=st.booleans())
@settings(max_examples=30)
def test_every_view_and_size_of_the_fold_is_that_of_the_replay(seed: int, odd: bool) -> None:
    session = generated(seed, steps=12, scale=150, odd=odd)
    for policy in SCALED:
        replayed = replay(session, often_enough(session, policy).policy)
        history = folded(replayed)
        for n in range(1, len(session.calls) + 1):
            view = replayed.view_at(n)
            spans = view_at(history, n)
            assert [(span.block, span.state, span.body and span.body.digest) for span in spans] == [
                (one.block.id, one.state, one.body.digest) for one in view.blocks
            ]
            assert history.sizes[n - 1].estimate == view.tokens == replayed.totals(n).tokens
            assert (view.own, len(view.messages)) == (replayed.totals(n).own, replayed.totals(n).messages)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20)
def test_each_firing_is_one_compaction_that_balances_and_names_its_layers(seed: int) -> None:
    session = generated(seed, steps=12, scale=150, odd=True)
    for policy in SCALED:
        replayed = replay(session, often_enough(session, policy).policy)
        history = folded(replayed)
        assert len(history.compactions) == len(replayed.firings)
        layers = {stage.layer.id for stage in replayed.policy.stages}
        assert {entry.layer for entry in history.ledger} <= layers
        for one, firing in zip(history.compactions, replayed.firings, strict=True):
            assert one.estimate_before - one.removed + one.added == one.estimate_after
            assert (one.estimate_before, one.estimate_after) == (firing.before.tokens, firing.compacted.view.tokens)
            assert (one.compaction.origin, one.compaction.line) == ("replayed", session.calls[firing.call - 1].line)


def test_messages_that_a_replay_puts_follow_all_logged_ones_and_their_texts_are_given() -> None:
    session = huge_messages(20).replayable()
    replayed = replay(session, s14(trigger=3_000, hard_limit=9_000, summary_tokens=100).policy)
    added = [message.seq for firing in replayed.firings for message in firing.compacted.added]
    assert added == list(range(session.last_seq + 1, session.last_seq + 1 + len(added)))
    digests = {body.digest for body in replayed.bodies() if body.text is not None}
    put = [entry for entry in folded(replayed).ledger if entry.adds]
    assert {entry.block.seq for entry in put} == set(added)
    assert len(digests) == 2


def test_what_a_recorded_compaction_put_into_a_message_is_taken_out_before_any_call() -> None:
    made = Made()
    made.text("go")
    made.call()
    made.text("on")
    made.call()
    made.say("assistant", ("compaction", "what went before", {}), ("text", "and on", {}), origin="model", call=2)
    made.call()
    session = made.replayable()
    assert [[f"{row.seq}.{row.i}" for row in arrival.blocks] for arrival in session.arrivals] == [["1.1"], ["2.1"], ["3.2"]]
    history = folded(replay(session, s14(trigger=1_000, hard_limit=2_000).policy))
    assert [str(span.block) for span in view_at(history, 3)] == ["1.1", "2.1", "3.2"]
    (taken,) = history.ledger
    assert taken.never_sent
    assert history.compactions[0].index is None


def test_the_report_goes_from_pressure_to_originals_and_a_second_replay_from_the_raw_rows_proves_the_same() -> None:
    def made() -> Replay:
        return replay(generated(3, steps=14, scale=300, odd=False, window=9_000), s14(trigger=2_000, hard_limit=3_000).policy)

    replayed = made()
    report = report_of(replayed)
    first, last = report.firings[0], replayed.view_at(report.last_call)
    assert first.pressure_before == (replayed.session.hidden + first.tokens_before) / 9_000
    assert sum(seen.tokens for seen in report.view) == last.tokens
    visible = {one.block.id for one in last.blocks if one.state == "whole"}
    assert visible.isdisjoint(original.block for original in report.originals)
    for original in report.originals:
        row = next(row for row in replayed.session.blocks_of(original.block.seq) if row.i == original.block.i)
        assert (original.digest, original.pointer) == (row.digest, f"transcript:{'b' * 16}:{original.block.seq}")
    lines = list(written(report, again=fingerprint(made())))
    assert lines[-1] == "replayed from the raw records: the same"
    assert any(line.startswith(f"call {first.call} (call): {first.own_before:,} → {first.own_after:,}") for line in lines)
    other = replay(replayed.session, s14(trigger=2_500, hard_limit=3_000).policy)
    assert list(written(report, again=fingerprint(other)))[-1].endswith(", another")
