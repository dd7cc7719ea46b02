"""What must hold for the fold of any lane, whatever its source did."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given

from compaction.history import History, fold, view_at
from compaction.transcript import Event
from tests.compaction.lanes import SIZES, lanes
from tests.oracle import Seen, plain_views


def _seen(history: History, n: int) -> list[Seen]:
    return [Seen(span.block, span.state, None if span.body is None else span.body.digest) for span in view_at(history, n)]


@given(lanes())
def test_the_view_at_every_call_equals_a_plain_step_by_step_fold(events: list[Event]) -> None:
    history = fold(events, SIZES)
    for n, expected in plain_views(events):
        assert _seen(history, n) == expected


@given(lanes())
def test_each_compaction_balances_and_the_batch_is_the_sum_of_its_ledger_entries(events: list[Event]) -> None:
    history = fold(events, SIZES)
    for folded in history.compactions:
        assert folded.estimate_before - folded.removed + folded.added == folded.estimate_after
        entries = [entry for entry in history.ledger if entry.compaction == folded.ordinal]
        assert sum(entry.tokens_after - entry.tokens_before for entry in entries) == folded.added - folded.removed
        assert folded.edits == sum(not entry.adds for entry in entries)


@given(lanes())
def test_the_size_of_each_call_is_the_sum_of_its_spans_and_follows_from_the_call_before(events: list[Event]) -> None:
    history = fold(events, SIZES)
    for size in history.sizes:
        spans = view_at(history, size.n)
        assert (size.estimate, size.blocks) == (sum(span.estimate for span in spans), len(spans))
        assert sum(size.kinds) == size.estimate
    estimates = [0, *(size.estimate for size in history.sizes)]
    for before, size in zip(estimates, history.sizes, strict=False):
        assert size.estimate == before + size.entered - size.removed


@given(lanes())
def test_a_fold_gives_the_same_history_each_time_and_keeps_no_text(events: list[Event]) -> None:
    history = fold(events, SIZES)
    assert fold(events, SIZES) == history
    assert all(span.body is None or span.body.text is None for span in history.spans)
    assert all(entry.body_after is None or entry.body_after.text is None for entry in history.ledger)


@given(lanes())
def test_compactions_are_numbered_from_one_without_gaps(events: list[Event]) -> None:
    history = fold(events, SIZES)
    assert [folded.ordinal for folded in history.compactions] == list(range(1, len(history.compactions) + 1))
    indexes = [folded.index for folded in history.compactions if folded.index is not None]
    assert indexes == list(range(1, len(indexes) + 1))


@given(lanes())
def test_spans_of_one_block_never_overlap_and_its_life_covers_them(events: list[Event]) -> None:
    history = fold(events, SIZES)
    for first, second in pairwise(history.spans):
        if first.block == second.block:
            assert first.to_call is not None
            assert first.to_call <= second.from_call
    lives = dict(history.lives())
    for span in history.spans:
        life = lives[span.block]
        assert life.first_call is not None
        assert life.last_call is not None
        assert life.first_call <= span.from_call <= life.last_call
