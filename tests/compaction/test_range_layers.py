"""The layers of mini-harness 09 and dsh over any lane, in both units: pairs stay whole, and a second pass finds nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.ask import Ask, Asked, CallerAsk, NoAsk, StubAsk
from compaction.counters.units import unit_named
from compaction.errors import LimitError, StoreError
from compaction.layers.base import Layer
from compaction.layers.prune_results import PruneResults
from compaction.layers.spill_head_tail import SpillHeadTail
from compaction.layers.summarise_range import SummariseRange
from compaction.limits import Limits
from compaction.messages import Message
from compaction.pricing import Pricer
from compaction.prune import PRUNE_MARK
from compaction.view import Plan, PromptView
from compaction.wire import read_wire, write_wire
from tests.compaction.lanes import message, tool_result, tool_use

UNITS = ("dsh_utf16", "course09_chars4")
PRUNE = PruneResults(threshold_chars=100, head_chars=20, tail_chars=10)
SPILL = SpillHeadTail(max_inline_bytes=400)
RANGE = SummariseRange(keep_tokens=60)
NONE = Limits()


@st.composite
def lanes(draw: st.DrawFn) -> list[Message]:
    """User texts, answers, and calls of which each is answered at once or some messages later."""
    messages, waiting = list[Message](), list[str]()
    for seq in range(1, draw(st.integers(1, 14)) + 1):
        text = draw(st.sampled_from(["a", "中", "😀"])) * draw(st.integers(1, 260))
        kind = draw(st.sampled_from(["user", "assistant", "call", "result"]))
        if kind == "result" and waiting:
            messages.append(tool_result(seq, waiting.pop(0), text))
        elif kind == "call":
            waiting.append(f"t{seq}")
            messages.append(tool_use(seq, f"t{seq}", text))
        else:
            messages.append(message(seq, "user" if kind == "user" else "assistant", text))
    return messages


def viewed(messages: list[Message], unit: str = "dsh_utf16") -> PromptView:
    return PromptView.of(messages, Pricer(unit_named(unit)))


def run(layer: Layer, view: PromptView, ask: Ask | None = None, limits: Limits = NONE) -> tuple[PromptView, Plan]:
    plan = layer.plan(view, limits, ask or StubAsk())
    return view.apply(plan, layer=layer.id).view, plan


@given(lanes(), st.sampled_from(UNITS), st.sampled_from([PRUNE, SPILL]))
def test_a_second_pass_of_prune_and_spill_changes_nothing(messages: list[Message], unit: str, layer: Layer) -> None:
    once, plan = run(layer, viewed(messages, unit))
    assert bool(plan.edits) is not bool(plan.skipped)
    again, nothing = run(layer, once)
    assert nothing.edits == ()
    assert again is once


@given(lanes(), st.sampled_from(UNITS))
def test_what_stands_for_a_spilled_result_is_within_the_limit_and_shorter(messages: list[Message], unit: str) -> None:
    view = viewed(messages, unit)
    after, plan = run(SPILL, view)
    before = {visible.block.id: visible.body for visible in view.blocks}
    for edit in plan.edits:
        assert edit.block is not None
        assert edit.body is not None
        assert len(view.pricer.text(edit.body).encode()) <= SPILL.max_inline_bytes
        assert edit.body.chars < before[edit.block].chars
    assert after.tokens <= view.tokens or not plan.edits


@given(lanes(), st.sampled_from(UNITS), st.integers(0, 300))
def test_a_summarised_range_shrinks_keeps_the_newest_part_and_splits_no_pair(messages: list[Message], unit: str, keep: int) -> None:
    view = viewed(messages, unit)
    after, plan = run(replace(RANGE, keep_tokens=keep), view, CallerAsk(lambda request: "short"))
    if not plan.edits:
        assert plan.skipped
        return
    kept = after.messages[1:]
    assert view.messages[-len(kept) :] == kept
    assert sum(one.own for one in kept) >= keep
    assert after.own < view.own
    assert [visible.block.kind for visible in after.messages[0].blocks] == ["text", "text", "text"]
    uses, results = ({tool_id for one in kept for tool_id in getattr(one, side)} for side in ("uses", "results"))
    assert results <= uses, "each kept result has its call"


def test_a_moved_cut_is_reported() -> None:
    view = viewed([message(1, "user", "x" * 4000), tool_use(2, "t"), tool_result(3, "t", "r" * 400)])
    _, plan = run(SummariseRange(keep_tokens=100), view, CallerAsk(lambda request: "short"))
    assert [asked.reason for asked in plan.asked] == ["the cut moved from message 3 to 2, so that no call loses its result"]
    assert [len(edit.takes) for edit in plan.edits] == [1]


def test_a_lone_pair_leaves_nothing_to_summarise() -> None:
    view = viewed([tool_use(1, "t", "u" * 4000), tool_result(2, "t", "r")])
    assert run(SummariseRange(keep_tokens=0), view)[1].edits == ()


def test_with_nothing_retained_the_newest_message_stays() -> None:
    view = viewed([message(1, "user", "x" * 9000), message(2, "assistant", "y" * 9000), message(3, "user", "now")])
    after, _ = run(SummariseRange(keep_tokens=0), view)
    assert [one.seqs for one in after.messages] == [(4,), (3,)]


def test_system_messages_at_the_head_stay_and_a_checkpoint_may_be_one_block() -> None:
    system = Message(seq=1, role="system", origin="harness", blocks=message(1, "user", "rules").blocks, line=1, record=1)
    view = viewed([system, message(2, "user", "x" * 9000), message(3, "user", "now")], "course09_chars4")
    after, _ = run(SummariseRange(in_blocks=False), view, limits=Limits(window=30))
    assert [one.seqs for one in after.messages] == [(1,), (4,), (3,)]
    text = after.pricer.text(after.messages[1].blocks[0].body)
    assert text.endswith("\n</compacted-summary>")


@pytest.mark.parametrize(("summary", "outcome"), [(None, "blank"), (" \n", "blank"), ("s" * 20_000, "not_smaller")])
def test_a_summary_that_is_blank_or_not_smaller_changes_nothing(summary: str | None, outcome: str) -> None:
    view = viewed([message(1, "user", "x" * 4000), message(2, "user", "y" * 400)])
    after, plan = run(RANGE, view, CallerAsk(lambda request: summary))
    assert after is view
    assert [asked.outcome for asked in plan.asked] == [outcome]


def test_a_failed_summary_changes_nothing_and_is_reported() -> None:
    view = viewed([message(1, "user", "x" * 4000), message(2, "user", "y" * 400)])

    def failing(request: object) -> str:
        raise TimeoutError

    after, plan = run(RANGE, view, CallerAsk(failing))
    assert after is view
    assert plan.asked == (Asked(messages=1, outcome="failed", reason="no summary of 1 messages: TimeoutError"),)


def test_without_a_window_a_ratio_decides_nothing() -> None:
    assert "window" in run(SummariseRange(), viewed([message(1, "user", "x")]))[1].skipped


class FullStore(NoAsk):
    """A store that takes nothing."""

    def store(self, text: str, name: str) -> str | None:
        raise StoreError("full")


@pytest.mark.parametrize("ask", [NoAsk(), FullStore()], ids=["no store", "a failing store"])
def test_a_result_that_no_store_takes_stays(ask: Ask) -> None:
    view = viewed([tool_use(1, "t"), tool_result(2, "t", "r" * 4000)])
    after, plan = run(SPILL, view, ask)
    assert (after, plan.skipped) == (view, "1 results above 400 bytes, none was stored")


def test_file_reads_and_results_that_the_model_has_answered_stay() -> None:
    large = tool_result(2, "t", "r" * 4000)
    read = replace(large, blocks=(replace(large.blocks[0], path="/a.py"),))
    assert run(SPILL, viewed([tool_use(1, "t"), read]))[1].edits == ()
    assert run(SPILL, viewed([tool_use(1, "t"), large, message(3, "assistant", "seen")]))[1].edits == ()
    assert len(run(SPILL, viewed([tool_use(1, "t"), large]))[1].edits) == 1


@pytest.mark.parametrize("part", [{"type": "image", "source": {}}, {"type": "tool_reference", "tool_name": "x"}], ids=["image", "other"])
def test_a_result_that_holds_more_than_text_is_not_spilled_and_keeps_it_when_it_is_pruned(part: dict[str, object]) -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "shell", "input": {}}]}
    parts = ["r" * 2000, {"type": "text", "text": "s" * 2000}, part]
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": parts}]}
    view = read_wire([call, result], Pricer(unit_named("dsh_utf16")))
    assert run(SPILL, view)[1].edits == ()
    pruned = {"type": "text", "text": "r" * 20 + PRUNE_MARK + "s" * 10}
    assert write_wire(run(PRUNE, view)[0])[1]["content"] == [{"type": "tool_result", "tool_use_id": "t", "content": [pruned, part]}]


def test_a_pruned_result_keeps_its_head_and_tail() -> None:
    after, _ = run(PRUNE, viewed([tool_use(1, "t"), tool_result(2, "t", "h" * 20 + "x" * 500 + "t" * 10)]))
    assert after.pricer.text(after.messages[1].blocks[0].body) == "h" * 20 + PRUNE_MARK + "t" * 10


@pytest.mark.parametrize(
    ("layer", "limits", "field"),
    [
        (PruneResults, {"head_chars": -1}, "head_chars"),
        (SpillHeadTail, {"max_inline_bytes": 1.5}, "max_inline_bytes"),
        (SummariseRange, {"keep_tokens": -1}, "keep_tokens"),
        (SummariseRange, {"keep_ratio": 1.0}, "keep_ratio"),
        (SummariseRange, {"summary_tokens": 0}, "summary_tokens"),
    ],
)
def test_a_limit_that_cannot_be_is_named(layer: type[Layer], limits: dict[str, float], field: str) -> None:
    with pytest.raises(LimitError) as raised:
        layer(**limits)
    assert raised.value.field == field
