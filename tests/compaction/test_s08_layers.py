"""The layers of s08: budget, snip, micro, and the two summaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.ask import Ask, CallerAsk, NoAsk, StubAsk, SummaryRequest
from compaction.counters.units import unit_named
from compaction.errors import LimitError, StoreError
from compaction.layers.base import Layer
from compaction.layers.clear_old_results import CLEARED, ClearOldResults
from compaction.layers.result_budget import ResultBudget
from compaction.layers.snip_messages import SnipMessages
from compaction.layers.summarise_everything import SummariseEverything
from compaction.layers.summarise_reactive import SummariseReactive
from compaction.limits import Limits
from compaction.pricing import Pricer
from compaction.protocol_rules import breaches, rules_named, turns_of_view
from compaction.view import Applied, Plan, PromptView
from compaction.wire import read_wire, write_wire

Wire = dict[str, Any]

LAYERS: tuple[Layer, ...] = (
    ResultBudget(batch_chars=300, store_above=50, preview_chars=10),
    SnipMessages(max_messages=8),
    ClearOldResults(keep_results=1, longer_than=60),
    SummariseEverything(),
    SummariseReactive(keep_messages=3),
)


def said(text: str, role: str = "user") -> Wire:
    return {"role": role, "content": text}


def calls(*ids: str, name: str = "bash", **given: object) -> Wire:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": one, "name": name, "input": given} for one in ids]}


def results(*ids: str, text: str = "ok") -> Wire:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": one, "content": text} for one in ids]}


def viewed(messages: list[Wire]) -> PromptView:
    return read_wire(messages, Pricer(unit_named("s08_repr")))


def run(layer: Layer, view: PromptView, ask: Ask | None = None) -> tuple[Applied, Plan]:
    plan = layer.plan(view, Limits(), ask or StubAsk())
    return view.apply(plan, layer=layer.id), plan


def contents(view: PromptView) -> list[object]:
    return [message["content"] for message in write_wire(view)]


@st.composite
def conversations(draw: st.DrawFn) -> list[Wire]:
    """Questions, answers and batches of parallel calls, whose results may be spread over several messages."""
    messages, made = [said("task")], 0
    for _ in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(["user", "assistant", "batch", "batch"]))
        if kind == "batch":
            ids = [f"t{made + n}" for n in range(draw(st.integers(1, 4)))]
            made += len(ids)
            text = draw(st.sampled_from(["ok", "x" * 90, "压" * 200]))
            messages.append(calls(*ids))
            cut = draw(st.integers(0, len(ids)))
            messages += [results(*part, text=text) for part in (ids[:cut], ids[cut:]) if part]
        else:
            messages.append(said("words " * draw(st.integers(1, 30)), kind))
    return messages


@given(conversations(), st.sampled_from(LAYERS))
def test_no_layer_splits_a_pair_and_a_second_pass_changes_nothing(messages: list[Wire], layer: Layer) -> None:
    applied, _ = run(layer, viewed(messages))
    again, plan = run(layer, applied.view)
    assert again.view is applied.view, plan
    codes = {breach.code for breach in breaches(turns_of_view(applied.view), rules_named("anthropic"))}
    assert not codes & {"call_unanswered", "result_without_call"}


@given(conversations(), st.sampled_from(LAYERS))
def test_sizes_balance_in_both_units_and_the_view_is_priced_as_its_repr(messages: list[Wire], layer: Layer) -> None:
    applied, _ = run(layer, viewed(messages))
    entries = applied.entries
    assert applied.before.own + sum(entry.own_after - entry.own_before for entry in entries) == applied.view.own
    assert applied.before.tokens + sum(entry.tokens_after - entry.tokens_before for entry in entries) == applied.view.tokens
    assert applied.view.own == len(repr(write_wire(applied.view)))


@given(conversations(), st.sampled_from(LAYERS))
def test_a_layer_plans_on_texts_read_back_from_the_wire_as_on_its_own_view(messages: list[Wire], layer: Layer) -> None:
    applied, _ = run(layer, viewed(messages))
    assert run(layer, viewed(list(map(dict, write_wire(applied.view)))))[1].edits == ()


class TestSnip:
    def test_it_fires_at_every_later_call_and_the_ledger_knows_the_true_sum(self) -> None:
        snip, view = SnipMessages(), viewed([said(f"m{n}", "assistant" if n % 2 else "user") for n in range(60)])
        counted, gone, put = list[object](), 0, set[int]()
        for _ in range(3):
            applied, _ = run(snip, view)
            counted.append(contents(applied.view)[3])
            put.update(*(edit.puts for edit in applied.edits))
            gone += sum(not entry.adds and entry.block.seq not in put for entry in applied.entries)
            fresh = viewed([said("filler")] * (applied.view.next_seq - 1) + [said("more", "assistant"), said("more")]).messages[-2:]
            view = PromptView.holding([*applied.view.messages, *fresh], view.pricer)
        assert len(applied.view.messages) == 51
        assert counted == ["[snipped 10 messages]", "[snipped 3 messages]", "[snipped 3 messages]"]
        assert gone == 10 + 2 + 2

    def test_a_middle_of_one_message_is_left_alone(self) -> None:
        applied, plan = run(SnipMessages(), viewed([said(str(n)) for n in range(51)]))
        assert applied.edits == ()
        assert plan.skipped == "1 of 51 messages lie between the head and the tail"

    def test_results_of_a_call_inside_the_head_stay_with_it_even_when_spread(self) -> None:
        messages = [said("0"), calls("a", "b"), results("a"), results("b"), *(said(str(n)) for n in range(4, 12))]
        applied, _ = run(SnipMessages(max_messages=6), viewed(messages))
        assert contents(applied.view)[4:] == ["[snipped 5 messages]", "9", "10", "11"]

    def test_a_head_that_leaves_no_tail_is_refused_by_name(self) -> None:
        with pytest.raises(LimitError) as caught:
            SnipMessages(max_messages=3)
        assert caught.value.field == "keep_head"


class TestMicro:
    def test_results_of_tool_messages_count_as_well(self) -> None:
        messages = [calls("a", "b"), {**results("a", text="x" * 99), "role": "tool"}, {**results("b"), "role": "tool"}]
        applied, _ = run(ClearOldResults(keep_results=1, longer_than=60), viewed(messages))
        assert [visible.state for visible in applied.view.blocks] == ["whole", "whole", "cleared", "whole"]

    def test_a_placeholder_must_be_shorter_whatever_the_limit(self) -> None:
        messages = [calls("a", "b"), results("a", text="x" * CLEARED.chars), results("b")]
        assert run(ClearOldResults(keep_results=1, longer_than=0), viewed(messages))[0].edits == ()


class TestBudget:
    def test_many_results_below_the_limit_of_one_are_never_reduced_whatever_their_sum(self) -> None:
        ids = [f"t{n}" for n in range(10)]
        applied, plan = run(ResultBudget(), viewed([calls(*ids), results(*ids, text="x" * 29_999)]))
        assert applied.edits == ()
        assert plan.skipped == "299,990 characters in 10 results, 0 above 30,000, none was stored"

    def test_only_the_newest_batch_is_looked_at(self) -> None:
        messages = [calls("a"), results("a", text="x" * 300_000), said("next", "assistant")]
        assert run(ResultBudget(), viewed(messages))[0].edits == ()
        assert run(ResultBudget(), viewed([*messages, said("so")]))[0].edits == ()

    def test_without_a_store_or_with_one_that_fails_nothing_is_reduced(self) -> None:
        class Full(NoAsk):
            def store(self, text: str, name: str) -> str | None:
                raise StoreError("full")

        for ask in (NoAsk(), Full()):
            assert run(ResultBudget(), viewed([calls("a"), results("a", text="x" * 300_000)]), ask)[0].edits == ()

    def test_a_replay_stores_nothing_and_points_to_the_body(self) -> None:
        applied, _ = run(ResultBudget(), viewed([calls("a"), results("a", text="x" * 300_000)]), StubAsk("session0123456789"))
        (content,) = contents(applied.view)[1:]
        assert "Full output: artifact:session0123456789:" in str(content)


class TestSummaries:
    def test_a_summary_that_failed_or_is_blank_replaces_nothing(self) -> None:
        def broken(request: SummaryRequest) -> str | None:
            raise RuntimeError("no network")

        view = viewed([said("a"), said("b", "assistant")])
        for ask, outcome in ((NoAsk(), "blank"), (CallerAsk(lambda request: "  "), "blank"), (CallerAsk(broken), "failed")):
            applied, plan = run(SummariseEverything(), view, ask)
            assert applied.view is view
            assert [(asked.messages, asked.outcome) for asked in plan.asked] == [(2, outcome)]

    def test_nothing_is_summarised_that_could_not_be_archived(self) -> None:
        class NoRoom(StubAsk):
            def archive(self, view: PromptView) -> str | None:
                raise StoreError("no room")

        applied, plan = run(SummariseEverything(), viewed([said("a"), said("b", "assistant")]), NoRoom())
        assert applied.edits == ()
        assert plan.skipped == "no summary without an archive: no room"

    def test_the_whole_history_is_archived_before_the_summarizer_is_asked(self) -> None:
        steps: list[tuple[str, int]] = []

        class Watching(StubAsk):
            def archive(self, view: PromptView) -> str | None:
                steps.append(("archive", len(view.messages)))
                return "archive"

            def summarize(self, request: SummaryRequest) -> str | None:
                steps.append(("summary", len(request.messages)))
                return "S"

        applied, _ = run(SummariseReactive(), viewed([said(str(n)) for n in range(9)]), Watching())
        assert steps == [("archive", 9), ("summary", 4)]
        assert contents(applied.view)[:2] == ["[Reactive compact]\n\nS", "4"]

    def test_the_focus_of_the_models_own_request_reaches_the_summarizer(self) -> None:
        asked: list[str] = []

        def summarize(request: SummaryRequest) -> str | None:
            asked.append(request.focus)
            return "S"

        messages = [said("task"), calls("a", name="compact", focus="the failing test"), results("a")]
        applied, _ = run(SummariseEverything(), viewed(messages), CallerAsk(summarize))
        run(SummariseEverything(), viewed([*messages, said("done", "assistant")]), CallerAsk(summarize))
        assert asked == ["the failing test", ""]
        assert contents(applied.view) == ["[Compacted]\n\nS"]


def test_untouched_messages_are_given_back_as_the_very_objects() -> None:
    messages: list[Wire] = [said("task"), calls("a"), results("a"), *(said(str(n)) for n in range(9))]
    written: list[Mapping[str, object]] = write_wire(run(SnipMessages(max_messages=6), viewed(messages))[0].view)
    assert [any(one is given for given in messages) for one in written] == [True, True, True, False, True, True, True]
