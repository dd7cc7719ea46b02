"""The session log of dsh: rows that lose nothing, a surface that only replacements change, figures that balance."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.dsh.chunk_rows import decode_storage_record, pack_chunk_rows
from compaction.dsh.events import KNOWN_TYPES, SURFACE_TYPES
from compaction.dsh.metering import Meter
from compaction.dsh.recorded import log_history, marked
from compaction.dsh.session_log import read_log
from compaction.dsh.surface import Surface, fold_surface
from compaction.errors import SessionLogError
from tests.ctxweb.importers.dsh_events import HEADER, compaction, event, header, numbered, prune, replacing, result, said, usage, user

Line = dict[str, Any]
WORDS = st.text(max_size=3)


@st.composite
def deltas(draw: st.DrawFn) -> Line:
    kind, member = draw(st.sampled_from([("text-delta", "text"), ("reasoning-delta", "text"), ("tool-call-delta", "argumentsDelta")]))
    chunk: Line = {"type": kind, "index": draw(st.integers(0, 1)), member: draw(WORDS)}
    if kind == "tool-call-delta":
        chunk |= draw(st.sampled_from([{}, {"id": "c"}, {"id": "c", "name": "n"}, {"id": "d"}]))
    return event("assistant/chunk", {"turn": draw(st.integers(1, 2)), "step": 1, "chunk": chunk})


@st.composite
def streams(draw: st.DrawFn) -> list[Line]:
    others = st.sampled_from([event("turn/start", {"turn": 1}), event("assistant/chunk", {"chunk": {"type": "usage"}})])
    chosen = draw(st.lists(st.one_of(deltas(), others).flatmap(lambda each: st.integers(1, 5).map(lambda n: [each] * n)), max_size=6))
    events = [dict(each) for group in chosen for each in group]
    times = draw(st.lists(st.integers(0, 10**6), min_size=len(events), max_size=len(events)))
    return [{**each, "seq": seq, "time": time} for seq, (each, time) in enumerate(zip(events, times, strict=True))]


@given(streams())
def test_what_is_packed_is_what_comes_out(events: list[Line]) -> None:
    records = pack_chunk_rows(events)
    assert [each for record in records for each in decode_storage_record(record)] == events
    assert len(records) <= len(events)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 50), st.integers(0, 50)), max_size=30))
def test_every_message_is_visible_or_shadowed_by_one_replacement(steps: list[tuple[bool, int, int]]) -> None:
    surface = Surface()
    meter = Meter(surface)
    for seq, (appends, start, end) in enumerate(steps):
        place: Line = {"surfaceOp": "append"}
        if not appends and surface.nodes:
            first, last = sorted((start % len(surface.nodes), end % len(surface.nodes)))
            shadowed = surface.nodes[first : last + 1]
            place = replacing(shadowed[0], shadowed[-1], shadowed)
        (each,) = numbered([user("x" * seq, **place)], first=seq)
        meter.take(each, surface.take(each))
    gone = [seq for replacement in surface.replacements for seq in replacement.shadowed]
    assert sorted([*surface.nodes, *gone]) == list(range(len(steps)))
    found = meter.measure()
    assert found.surface == sum(price for _, price in found.nodes) == found.baseline


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([user("a", surfaceOp={"op": "replace", "start": "0", "end": 0})], "surface_op_invalid"),
        ([user("a", surfaceOp={"op": "replace", "start": True, "end": 0})], "surface_op_invalid"),
        ([user("a", surfaceOp=None)], "surface_op_invalid"),
        ([user("a", sourceEventSeqs="0")], "sources_invalid"),
        ([user("a"), user("b", **replacing(0, 5, [0]))], "surface_end_unknown"),
        ([event("turn/start", sourceEventSeqs=[])], "surface_marker_forbidden"),
        ([user("a"), result("t", "x", **replacing(0, 0, [0]))], "tool_result_rewrite_changed_more"),
        ([user("a"), user("b", sourceEventSeqs=[-1])], "source_not_earlier"),
    ],
)
def test_the_first_broken_rule_is_named(events: list[Line], code: str) -> None:
    with pytest.raises(SessionLogError) as raised:
        fold_surface(numbered(events))
    assert raised.value.code == code


def test_an_answer_may_be_of_no_stream_at_all() -> None:
    assert fold_surface(numbered([said("a", sourceEventSeqs=[])])).nodes == [0]


def test_surface_events_are_known() -> None:
    assert SURFACE_TYPES < KNOWN_TYPES


def metered(*events: Line) -> Meter:
    surface = Surface()
    meter = Meter(surface)
    for each in numbered(events):
        meter.take(each, surface.take(each))
    return meter


def test_nothing_is_anchored_in_a_usage_that_the_request_cannot_have_had() -> None:
    small = metered(user("a" * 400), event("step/start"), said("b", usage=usage(10)))
    assert small.measure().kind == "estimated"
    assert metered(user("a"), event("step/start"), said("b", usage=usage(900))).measure().kind == "usage"


def test_another_header_takes_the_anchor_away_and_the_same_one_does_not() -> None:
    start = [header("x"), user("a"), event("step/start"), said("b", usage=usage(900))]
    assert metered(*start, header("x")).measure().kind == "usage"
    assert metered(*start, header("y")).measure().kind == "estimated"


def test_a_second_sample_of_a_step_takes_the_place_of_the_first() -> None:
    chunk = event("assistant/chunk", {"turn": 1, "step": 1, "chunk": {"type": "usage", "usage": usage(50, 5)}})
    assert metered(user("a"), chunk, said("b", usage=usage(60, 6))).usage()["inputTokens"] == 60


def test_an_announced_price_stands_in_for_the_estimate_and_another_event_cancels_it() -> None:
    start = [user("a"), said("b", calls=["t"], usage=usage(1000)), result("t", "x" * 4000)]
    rewritten = result("t", "y", **replacing(2, 2, [2]))
    before = metered(*start).pressure().projected
    assert before is not None
    priced = metered(*start, prune(2, 700), rewritten).pressure()
    assert priced.projected == before - 700 + 13
    assert metered(*start, prune(2, 700), event("todo/write"), rewritten).pressure().projected == before
    assert metered(*start, prune(1, 700), rewritten).pressure().projected == before


def test_figures_that_were_never_told_are_absent() -> None:
    found = metered(user("a"), event("request/context", {"contextWindow": "big"})).pressure()
    assert (found.window, found.prompt, found.projected) == (None, None, None)


def test_an_interrupted_stream_is_priced_by_what_came_of_it() -> None:
    deltas = [{"type": "text-delta", "index": 0, "text": "1234"}, {"type": "text-delta", "index": 0, "text": "5678"}]
    chunks = [event("assistant/chunk", {"turn": 1, "step": 1, "chunk": delta}) for delta in deltas]
    answer = said("12345678", usage=usage(900), sourceEventSeqs=[1, 2])
    assert metered(event("step/start"), *chunks, answer).measure().delta == 0


def test_history_tells_transactions_prunes_and_what_is_left() -> None:
    events = [user("a"), said("b", calls=["t"]), result("t", "x" * 9), prune(2, 5), result("t", "y", **replacing(2, 2, [2]))]
    found = log_history(numbered([*events, *compaction(0, 4, [0, 1, 4], "S", at=5)]))
    (prune_found,) = found.prunes
    assert (prune_found.original, prune_found.replacement, prune_found.call_id) == (2, 4, "t")
    assert (prune_found.chars_before, prune_found.chars_after) == (9, 1)
    (done,) = found.compactions
    assert (done.start, done.summary, done.replaced_by, done.end, done.outcome, done.tokens) == (5, 6, 7, 8, "ok", 77)
    assert [each["seq"] for each in found.visible] == [7]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("P\n\n<compacted-summary>", "checkpoint_open"),
        ("</compacted-summary>", "checkpoint_close"),
        ("a\n\n[... tool result middle pruned ...]\n\nb", "pruned"),
    ],
)
def test_marks_are_taken_apart(text: str, kind: str) -> None:
    found = marked(text)
    assert not isinstance(found, str)
    assert found.kind == kind
    assert marked("see <compacted-summary> there") == "see <compacted-summary> there"


def test_a_file_that_is_no_log_is_refused() -> None:
    for lines in ([], [(1, {"type": "session"})], [(1, None)]):
        with pytest.raises(SessionLogError):
            read_log(lines)
    assert read_log([(1, HEADER)]).events == ()
