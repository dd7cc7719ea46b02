"""Replay against the plain engine, which measures everything at every call: each firing, total and edit is the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction.ask import STUB_TOKENS
from compaction.counters.units import unit_named
from compaction.errors import ProtocolError
from compaction.replay.firing import Replay
from compaction.replay.replayable import Replayable
from compaction.replay.run import replay
from compaction.view import ViewMessage
from tests.replay_policies import Tried, assert_same, dsh, s08, s14
from tests.replay_sessions import Made, Tool, generated, plain_session, prose, tiktoken_tokens

pytestmark = pytest.mark.nodb

FIRINGS = 5
DIVISORS = (3, 5, 8, 12, 20, 32, 50, 100, 1000)


def summary(tokens: int) -> int:
    """A size of summaries that a stub can have."""
    return min(STUB_TOKENS, max(5, tokens))


def scaled_s14(session: Replayable) -> Iterator[Tried]:
    """Smaller and smaller limits, until the policy fires often enough."""
    total = session.rendered(unit_named("s14_chars4")).own[-1]
    for divisor in DIVISORS:
        trigger = max(20, total // divisor)
        yield s14(trigger=trigger, hard_limit=trigger * 3 // 2, result_tokens=max(20, trigger // 12), summary_tokens=summary(trigger // 10))


def scaled_s08(session: Replayable) -> Iterator[Tried]:
    total = session.rendered(unit_named("s08_repr")).own[-1]
    for divisor in DIVISORS:
        trigger = max(150, total // divisor)
        sizes = {"batch": max(700, trigger // 4), "store": 500, "preview": max(50, trigger // 40)}
        yield s08(trigger=trigger, messages=9, summary_tokens=summary(trigger // 60), **sizes)


def scaled_dsh(session: Replayable) -> Iterator[Tried]:
    total = session.rendered(unit_named("dsh_utf16")).own[-1]
    for divisor in DIVISORS:
        window = max(60, total // divisor) + session.hidden
        yield dsh(window=window, threshold=600, head=200, tail=100, summary_tokens=summary(window // 40))


SCALED: dict[str, Callable[[Replayable], Iterator[Tried]]] = {"s14": scaled_s14, "s08": scaled_s08, "dsh": scaled_dsh}


def often_enough(session: Replayable, policy: str) -> Tried:
    """The policy with the largest limits under which it fires at least FIRINGS times."""
    return next(tried for tried in SCALED[policy](session) if len(calls_fired(replay(session, tried.policy))) >= FIRINGS)


def calls_fired(replayed: Replay) -> set[int]:
    return {firing.call for firing in replayed.firings}


@given(seed=st.integers(0, 10**6), steps=st.integers(10, 20), scale=st.sampled_from([40, 200, 900]), odd=st.booleans())
@settings(max_examples=200)
def test_replay_of_any_session_is_that_of_the_plain_engine(seed: int, steps: int, scale: int, odd: bool) -> None:
    session = generated(seed, steps=steps, scale=scale, odd=odd)
    plain = plain_session(session)
    for policy in SCALED:
        replayed = assert_same(session, plain, often_enough(session, policy), tiktoken_tokens)
        assert len(calls_fired(replayed)) >= FIRINGS


@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 0.9))
@settings(max_examples=40)
def test_a_prompt_that_does_not_fit_its_window_is_compacted_once_more(seed: int, share: float) -> None:
    whole = generated(seed, steps=14, scale=300, odd=True)
    window = whole.hidden + max(300, int(share * whole.rendered(unit_named("exact")).own[-1]))
    session = generated(seed, steps=14, scale=300, odd=True, window=window)
    plain = plain_session(session)
    policies = (s14(trigger=3_000, hard_limit=4_000, summary_tokens=50), s08(trigger=9_000, messages=12, summary_tokens=50))
    for tried in (*policies, dsh(window=1, threshold=600, head=200, tail=100, summary_tokens=50)):
        assert_same(session, plain, tried, tiktoken_tokens)


def huge_messages(count: int) -> Made:
    """Few, huge, recent messages, which only a summary can take."""
    made = Made()
    for index in range(count):
        made.text(prose_of(index, 2_400))
        made.call()
        made.say("assistant", ("text", prose_of(index + 1, 2_400), {}), origin="model", call=len(made.calls))
    return made


def prose_of(seed: int, chars: int) -> str:
    return prose(random.Random(seed), chars)


def of_layer(replayed: Replay, layer: str) -> int:
    return sum(any(edit.layer == layer for edit in firing.compacted.edits) for firing in replayed.firings)


def test_the_last_layer_fires_often_where_messages_are_few_and_huge() -> None:
    session = huge_messages(60).replayable()
    tried = s14(trigger=3_000, hard_limit=9_000, summary_tokens=100)
    replayed = assert_same(session, plain_session(session), tried, tiktoken_tokens)
    assert of_layer(replayed, "summarise_old") >= 10


def test_old_reads_of_a_file_go_where_it_is_read_again_and_again() -> None:
    made = Made()
    made.text("read them")
    made.call()
    for index in range(120):
        reads: list[Tool] = [("read_file", {"path": f"{(index + k) % 3}.py"}, prose_of(index, 500)) for k in range(2)]
        made.batch(*reads)
        made.call()
    session = made.replayable()
    tried = s14(trigger=2_500, hard_limit=5_000, summary_tokens=100)
    replayed = assert_same(session, plain_session(session), tried, tiktoken_tokens)
    removed = [edit for firing in replayed.firings for edit in firing.compacted.edits if edit.layer == "dedup_file_reads"]
    assert sum(len(edit.takes) for edit in removed) >= 100


def test_a_view_of_which_nothing_can_be_removed_is_a_finding_at_each_call() -> None:
    session = huge_messages(3).replayable()
    tried = s14(trigger=1_000, hard_limit=1_200)
    replayed = assert_same(session, plain_session(session), tried, tiktoken_tokens)
    assert [(failure.code, failure.call) for failure in replayed.failures] == [("view_limit_exceeded", 2), ("view_limit_exceeded", 3)]
    assert not any(firing.compacted.edits for firing in replayed.firings)
    (finding,) = replayed.findings
    assert (finding.code, finding.detail) == ("view_limit_exceeded", "calls 2–3: 1,812 for a limit of 1,200")


def test_with_exact_counts_limits_in_tokens_are_exact_tokens_and_limits_in_characters_stay() -> None:
    session = generated(7, steps=20, scale=300, odd=False)
    exact = replay(session, s14(trigger=2_000, hard_limit=9_000).policy, count="exact")
    assert exact.firings
    assert all(firing.before.own == firing.before.tokens >= 2_000 for firing in exact.firings)
    own, as_exact = (replay(session, s08(trigger=9_000).policy, count=count) for count in ("own", "exact"))
    assert own.firings == as_exact.firings


def test_orphans_are_kept_as_plain_blocks_or_refused_with_their_ids() -> None:
    made = Made()
    made.text("go")
    made.say("user", ("tool_result", "of a call that was never logged", {"tool_id": "gone"}), origin="tool")
    made.call()
    for index in range(12):
        made.batch(("run", {"n": index}, prose_of(index, 300)))
        if index == 5:
            made.say("assistant", ("tool_use", "{}", {"tool_id": "lone", "tool_name": "run"}), origin="model", call=len(made.calls))
        made.call()
    session = made.replayable()
    assert [str(block) for block in session.orphans] == ["2.1", "15.1"]
    for tried in (s14(trigger=300, hard_limit=900, summary_tokens=20), s08(trigger=2_000, messages=9, summary_tokens=20)):
        replayed = assert_same(session, plain_session(session), tried, tiktoken_tokens)
        assert [finding.code for finding in replayed.findings if finding.seq is not None] == ["orphans_kept"]
        for firing in replayed.firings:
            assert lone(firing.compacted.view.messages) <= {"gone", "lone"}
    with pytest.raises(ProtocolError, match=r"2 tool blocks have no other half \(2\.1, 15\.1\)") as refused:
        replay(session, s14(trigger=300, hard_limit=900).policy, orphans="strict")
    assert (refused.value.code, refused.value.tool_id) == ("tool_result_unmatched", "gone")


def lone(messages: tuple[ViewMessage, ...]) -> set[str]:
    uses = {tool_id for message in messages for tool_id in message.uses}
    return uses ^ {tool_id for message in messages for tool_id in message.results}


def test_a_recorded_compact_call_has_everything_summarised_after_its_whole_batch() -> None:
    made = Made()
    made.text("go")
    made.call()
    made.batch(("run", {"n": 1}, "one"))
    made.call()
    made.batch(("compact", {"focus": "ids"}, "Compaction requested after this tool batch."), ("run", {"n": 2}, "two"), apart=True)
    made.call()
    made.batch(("run", {"n": 3}, "three"))
    made.call()
    session = made.replayable()
    assert session.compact_calls == {3}
    replayed = assert_same(session, plain_session(session), s08(trigger=50_000, summary_tokens=9), tiktoken_tokens)
    assert [(firing.call, firing.moment) for firing in replayed.firings] == [(3, "asked")]
    assert len(replayed.view_at(3).messages) == 1
    assert not replay(session, s14(trigger=50_000, hard_limit=60_000).policy).firings


def test_a_lane_without_calls_has_no_firings() -> None:
    made = Made()
    made.text("nothing was asked")
    assert replay(made.replayable(), s08(trigger=10).policy).firings == []
