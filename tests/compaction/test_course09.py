"""mini-harness 09: its log, its pruner over the log, and its compaction loop."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.course09.checkpoint import NO_TAIL, Outcome, Turn, compact, estimate_turns, over_threshold, tail_start
from compaction.course09.estimates import pressure_climb
from compaction.course09.log import LogEvent, SessionLog
from compaction.course09.segments import safe_segment
from compaction.errors import SessionLogError, SummarizerError
from compaction.prune import PruneSizes

SMALL = PruneSizes(threshold_chars=50, head_chars=4, tail_chars=3)


def turns(*lengths: int) -> list[Turn]:
    return [Turn(role="user", content="x" * length) for length in lengths]


def event(place: int, kind: str, content: str, replaces: tuple[int, int] | None = None) -> LogEvent:
    fields: dict[str, object] = {"content": content}
    if replaces is not None:
        fields["surface_op"] = {"op": "replace", "start": replaces[0], "end": replaces[1]}
    return LogEvent(id=place, type=kind, fields=fields)


@given(st.lists(st.tuples(st.sampled_from(["user/message", "tool/result"]), st.integers(0, 120)), max_size=8))
def test_a_second_pass_of_the_pruner_finds_nothing_and_the_log_only_grows(given_events: list[tuple[str, int]]) -> None:
    log = SessionLog.of(event(place, kind, "x" * chars) for place, (kind, chars) in enumerate(given_events))
    first = log.pruned(SMALL)
    assert first.pruned == sum(kind == "tool/result" and chars > 50 for kind, chars in given_events)
    assert first.log.events[: len(log.events)] == log.events
    assert len(first.log.messages()) == len(log.messages())
    assert first.log.pruned(SMALL).log == first.log


def test_an_event_takes_the_place_of_the_visible_range_that_it_replaces() -> None:
    events = [event(0, "user/message", "a"), event(1, "user/message", "b"), event(2, "user/message", "c")]
    log = SessionLog.of([*events, event(3, "user/message", "S", (0, 1)), event(4, "user/message", "T", (3, 3))])
    assert [message.content for message in log.messages()] == ["T", "c"]


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([event(1, "user/message", "a")], "event_id_gap"),
        ([event(0, "", "a")], "event_type_invalid"),
        ([event(0, "user/message", "a"), event(1, "user/message", "S", (1, 0))], "surface_range_invalid"),
        ([event(0, "note", "a"), event(1, "user/message", "S", (0, 0))], "surface_node_unknown"),
    ],
)
def test_a_log_that_contradicts_itself_is_refused(events: list[LogEvent], code: str) -> None:
    with pytest.raises(SessionLogError) as raised:
        SessionLog.of(events)
    assert raised.value.code == code


@given(st.lists(st.integers(0, 400), max_size=12), st.integers(1, 2000))
def test_the_tail_is_the_shortest_that_holds_its_share_of_the_window(lengths: list[int], window: int) -> None:
    messages = turns(*lengths)
    start = tail_start(messages, window)
    if start == NO_TAIL:
        assert len(messages) <= 2 or estimate_turns(messages[2:]) < int(window * 0.16)
    else:
        assert start > 1
        assert estimate_turns(messages[start:]) >= int(window * 0.16)
        assert start == len(messages) - 1 or estimate_turns(messages[start + 1 :]) < int(window * 0.16)


@given(
    st.lists(st.integers(0, 400), max_size=12),
    st.integers(1, 2000),
    st.lists(st.sampled_from(["", " ", "s", "s" * 900]), min_size=2, max_size=2),
)
def test_a_compaction_never_grows_and_says_what_came_of_it(lengths: list[int], window: int, summaries: list[str]) -> None:
    answers = iter(summaries)
    outcome = compact(turns(*lengths), lambda shadowed: next(answers), window=window, preamble="p")
    assert outcome.tokens_after < outcome.tokens_before or outcome.after == outcome.before
    assert (outcome.reason == "unchanged") is (outcome.last is None)
    assert outcome.last is None or (outcome.reason == "replaced_still_over") is over_threshold(outcome.after, window)


def test_what_the_client_raises_goes_to_the_caller() -> None:
    def failing(shadowed: Sequence[Turn]) -> str:
        raise SummarizerError("no model")

    with pytest.raises(SummarizerError):
        compact(turns(10, 4000, 4000), failing, window=1000)


def test_no_summary_at_all_is_rejected_and_asked_for_again() -> None:
    outcome: Outcome = compact(turns(10, 4000, 4000), lambda shadowed: None, window=1000)
    assert (outcome.calls, outcome.reason) == ((1, 1), "unchanged")


def test_the_pressure_climbs_with_each_message() -> None:
    climb = pressure_climb(["x" * 40] * 4, window=70)
    assert [pressure.total_tokens for pressure in climb] == [28, 42, 56]
    assert [pressure.over_threshold for pressure in climb] == [False, False, True]


@given(st.text(max_size=100))
def test_a_segment_never_leads_out_of_its_folder(value: str) -> None:
    segment = safe_segment(value, "result")
    assert 0 < len(segment) <= 80
    assert "/" not in segment
    assert segment not in (".", "..")
