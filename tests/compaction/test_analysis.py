"""Estimates, inferred events, epochs, the cache rule and the fidelity report, on small lanes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compaction.analysis.cache import cache_health, cache_reads
from compaction.analysis.estimates import CONSTANTS, Estimator, constants_for
from compaction.analysis.fidelity import Spread, fidelity_report
from compaction.analysis.residuals import fit, merge_inferred
from compaction.edits import clear, remove, restore
from compaction.history import History, fold
from compaction.messages import Block, BlockId, Body
from compaction.transcript import Edit, Event, ModelCall, Usage
from tests.compaction.lanes import SIZES, called, edited, message, said

HIDDEN = 10_000
CLAUDE = constants_for("claude-opus-4-5-20251101")


def _text(tokens: int) -> Body:
    return Body(digest=tokens.to_bytes(16, "big"), chars=4 * tokens)


def _size(block: Block, model: str = "claude-opus-4-5") -> int:
    one = message(1, "user")
    return Estimator(constants_for(model), {block.body.digest: block.body.chars // 4}).whole(replace(one, blocks=(block,)), block)


def _block(**fields: object) -> Block:
    return Block(**({"id": BlockId(1, 2), "kind": "text", "body": _text(1000)} | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("model", "block", "tokens"),
    [
        ("claude-opus-4-5", _block(), 1137),
        ("claude-opus-4.6", _block(), 1155),
        ("claude-opus-4-5", _block(kind="thinking", signature_chars=1000), 214),
        ("claude-opus-4-5", _block(kind="thinking"), 17),
        ("gpt-5.5", _block(), 1000),
        ("gpt-5.5", _block(id=BlockId(1, 1)), 1011),
        ("gpt-5.5", _block(kind="thinking", signature_chars=1000), 55),
        ("deepseek-chat", _block(kind="thinking"), 1037),
    ],
)
def test_a_block_costs_its_count_times_the_factor_of_the_family(model: str, block: Block, tokens: int) -> None:
    assert _size(block, model) == tokens


def test_an_image_costs_less_than_three_thousand_tokens_wherever_it_stands() -> None:
    image = _size(_block(kind="image", media_bytes=100_000, body=Body.of("[image]")))
    inside = _size(_block(kind="tool_result", media_bytes=200_000, flags=("images:2",), body=Body.of("")))
    assert image < 3000
    assert inside < 2 * 3000


def test_a_text_without_a_count_is_taken_as_four_characters_a_token() -> None:
    block = _block(body=Body.of("four" * 100))
    assert Estimator(CLAUDE, {}).whole(message(1, "user"), block) == 112 + 17


def test_a_cleared_result_costs_what_the_source_says_or_eight_tokens() -> None:
    estimator = Estimator(CLAUDE, {})
    assert estimator.edited(_block(), clear(BlockId(1, 2), unit_tokens=5)) == 5
    assert estimator.edited(_block(), Edit(verb="clear", block=BlockId(1, 2), state="cleared")) == 8


def test_every_family_says_where_its_constants_come_from_and_the_last_fits_all() -> None:
    assert all(constants.provenance for constants in CONSTANTS)
    assert constants_for("an unheard-of model") == constants_for(None) == CONSTANTS[-1]
    assert constants_for(None, "claude_code") == CLAUDE


def _lane(*steps: tuple[int, int] | Event, previous: dict[int, int | None] | None = None) -> History:
    """A lane of steps: (tokens that a new message adds, reported prompt), or an event between two calls."""
    events: list[Event] = []
    n = seq = 0
    for step in steps:
        if not isinstance(step, tuple):
            events.append(step)
            continue
        n, seq = n + 1, seq + 1
        events += said(message(seq, "user", "a" * step[0]))
        events.append(called(n, step[1], previous=(previous or {}).get(n, n - 1 or None)))
    return fold(events, SIZES)


def test_growth_that_the_log_explains_makes_one_epoch_without_events() -> None:
    history = _lane((100, HIDDEN + 100), (50, HIDDEN + 150), (50, HIDDEN + 210))
    found = fit(history.calls, history.sizes, history.compactions)
    assert found.inferred == ()
    assert [(call.anchor, call.unexplained, call.step, call.epoch) for call in found.calls] == [
        (1, HIDDEN, None, None),
        (1, HIDDEN, 0, 0),
        (1, HIDDEN + 10, -10, -10),
    ]


def test_a_fall_that_nothing_explains_is_an_inferred_drop_and_begins_an_epoch() -> None:
    history = _lane((100, HIDDEN + 100), (50, HIDDEN - 4850), (50, HIDDEN - 4800))
    (event,) = fit(history.calls, history.sizes, history.compactions).inferred
    assert (event.kind, event.before_call, event.amount, event.line) == ("drop", 2, 5000, 1002)
    assert (event.reported_before, event.reported_after) == (HIDDEN + 100, HIDDEN - 4850)
    assert [call.anchor for call in fit(history.calls, history.sizes, ()).calls] == [1, 2, 2]


def test_a_jump_counts_only_above_two_thousand_tokens_and_three_percent() -> None:
    small = _lane((0, 10_000), (0, 12_000))
    large = _lane((0, 100_000), (0, 103_000))
    over = _lane((0, 100_000), (0, 103_200))
    assert [len(fit(lane.calls, lane.sizes, ()).inferred) for lane in (small, large, over)] == [0, 0, 1]


def test_where_nothing_can_be_estimated_only_a_tenth_counts() -> None:
    def blind(after: int) -> int:
        history = fold([called(1, 100_000), called(2, after, previous=1)], SIZES)
        return len(fit(history.calls, history.sizes, ()).inferred)

    assert [blind(92_000), blind(89_000)] == [0, 1]


def test_a_recorded_compaction_begins_an_epoch_and_is_found_again_when_hidden() -> None:
    history = _lane((9000, HIDDEN + 9000), edited(remove([BlockId(1, 1)])), (50, HIDDEN + 4000), (50, HIDDEN + 4050))
    report = fidelity_report(history.calls, history.sizes, history.compactions, CLAUDE)
    assert (report.recorded_drops, report.recorded_found, report.drops, report.rises, report.epochs) == (1, 1, 0, 0, 2)
    assert report.step_errors == report.epoch_errors == (0.0,)


def test_a_micro_compaction_directly_before_a_full_one_is_one_drop_with_it() -> None:
    micro = edited(clear(BlockId(1, 1), unit_tokens=8), mechanism="clear_tool_result")
    history = _lane((9000, HIDDEN + 9000), micro, edited(remove([BlockId(1, 1)])), (50, HIDDEN))
    assert fidelity_report(history.calls, history.sizes, history.compactions, CLAUDE).recorded_drops == 1


def test_a_change_of_model_begins_an_epoch_but_is_no_event() -> None:
    events: list[Event] = [called(1, 50_000, model="a"), called(2, 20_000, model="b", previous=1)]
    found = fit((history := fold(events, SIZES)).calls, history.sizes, ())
    assert found.inferred == ()
    assert [call.anchor for call in found.calls] == [1, 2]


def test_a_call_without_usage_is_stepped_over() -> None:
    history = _lane((100, HIDDEN + 100), (50, None), (50, HIDDEN + 200))  # type: ignore[arg-type]
    found = fit(history.calls, history.sizes, ())
    assert [(call.previous, call.residual, call.anchor) for call in found.calls] == [(None, None, 1), (1, None, 1), (1, 0, 1)]


def test_a_branch_is_compared_with_the_call_before_it_on_its_own_path() -> None:
    history = _lane(
        (100, HIDDEN + 100),
        (50, HIDDEN + 5150),
        edited(remove([BlockId(2, 1)]), mechanism="rewind"),
        (50, HIDDEN + 150),
        previous={2: 1, 3: 1},
    )
    events = fit(history.calls, history.sizes, history.compactions).inferred
    assert [(event.kind, event.before_call) for event in events] == [("rise", 2)]


def test_a_fresh_start_in_the_file_is_compared_with_the_call_before_it() -> None:
    history = _lane((100, HIDDEN + 5100), edited(remove([BlockId(1, 1)]), mechanism="clear"), (50, HIDDEN + 50), previous={2: None})
    (event,) = fit(history.calls, history.sizes, history.compactions).inferred
    assert (event.kind, event.before_call, event.previous, event.amount) == ("drop", 2, 1, 5000)


def test_a_second_try_after_a_compaction_is_no_inferred_drop() -> None:
    history = _lane(
        (9000, HIDDEN + 9000),
        edited(remove([BlockId(1, 1)])),
        (50, HIDDEN + 4000),
        edited(remove([BlockId(2, 1)]), mechanism="rewind"),
        (60, HIDDEN + 4010),
        previous={2: 1, 3: 1},
    )
    assert fit(history.calls, history.sizes, history.compactions).inferred == ()


def test_inferred_drops_join_the_compactions_in_file_order_and_the_ledger_follows() -> None:
    history = _lane(
        (9000, HIDDEN + 9000),
        (50, HIDDEN + 1050),
        edited(remove([BlockId(1, 1)]), restore([1]), mechanism="rewind", line=1500),
        edited(remove([BlockId(2, 1)]), line=1501),
        (50, HIDDEN + 1050),
    )
    merged = merge_inferred(history, fit(history.calls, history.sizes, history.compactions).inferred)
    assert [(folded.ordinal, folded.index, folded.compaction.origin) for folded in merged.compactions] == [
        (1, 1, "inferred"),
        (2, None, "recorded"),
        (3, 2, "recorded"),
    ]
    assert [entry.compaction for entry in merged.ledger] == [2, 2, 3]
    drop = merged.compactions[0]
    assert (drop.compaction.tokens_before, drop.compaction.tokens_after, drop.edits) == (HIDDEN + 9000, HIDDEN + 1050, 0)
    assert merge_inferred(history, ()) is history


def _cached(n: int, read: int, written: int, second: int, **fields: object) -> ModelCall:
    usage = Usage(input_tokens=3, cache_read_tokens=read, cache_write_tokens=written, cache_ttl_seconds=300)
    return ModelCall(n=n, seq=None, line=n, usage=usage, at=second * 1000, previous=n - 1 or None, **fields)  # type: ignore[arg-type]


def test_an_unchanged_living_prefix_is_read_to_the_token() -> None:
    reads = cache_reads([_cached(1, 0, 500, 0), _cached(2, 500, 20, 10), _cached(3, 520, 20, 20), _cached(4, 100, 420, 30)], ())
    assert [(read.reason, read.predicted, read.exact, read.missed) for read in reads] == [
        ("first", 100, False, False),
        ("extends", 500, True, False),
        ("extends", 520, True, False),
        ("extends", 540, False, True),
    ]
    health = cache_health(reads)
    assert (health.calls, health.exact, health.unexpected_misses) == (3, 2, 1)


def test_an_expired_cache_a_compaction_and_another_model_are_no_misses() -> None:
    calls = [_cached(1, 0, 500, 0), _cached(2, 0, 500, 301), _cached(3, 90, 500, 302), _cached(4, 90, 9, 303, model="b")]
    reads = cache_reads(calls, {3})
    assert [(read.reason, read.predicted) for read in reads] == [("first", 90), ("expired", 0), ("compaction", 90), ("model", 90)]
    assert cache_health(reads).exact_share is None


def test_a_call_that_reports_no_cache_is_left_out() -> None:
    assert cache_reads([ModelCall(n=1, seq=None, line=1, usage=Usage(input_tokens=5))], ()) == ()


def test_a_spread_is_unknown_where_nothing_was_measured() -> None:
    assert Spread.of([]) == Spread(median=None, p95=None)
    assert Spread.of([4.0, 1.0, 2.0]) == Spread(median=2.0, p95=3.8)
