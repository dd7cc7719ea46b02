"""Layers that no one program owns: what each takes, keeps and puts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.ask import Ask, CallerAsk, NoAsk, StubAsk, SummaryRequest
from compaction.errors import LimitError
from compaction.layers import LAYERS
from compaction.layers.base import Layer
from compaction.layers.clear_thinking import ClearThinking
from compaction.layers.clear_tool_results import ClearToolResults
from compaction.layers.drop_interactions import DropInteractions
from compaction.layers.limit_by_kind import LimitByKind
from compaction.layers.mask_tool_results import MaskToolResults
from compaction.layers.opaque_compaction import OpaqueCompaction
from compaction.layers.restore_files import RestoreFiles
from compaction.layers.sliding_window import SlidingWindow
from compaction.layers.spill_results import SpillResults
from compaction.layers.summarise_all import SummariseAll
from compaction.layers.summarise_keep_recent import SummariseKeepRecent
from compaction.limits import Limits
from compaction.view import Plan, PromptView
from compaction.wire import read_wire, write_wire
from tests.compaction.talk import Talk, shown, talks

WINDOW = Limits(window=1_000)
SHORT = CallerAsk(lambda request: f"summary of {len(request.messages)}")


def planned(layer: Layer, view: PromptView, ask: Ask | None = None, limits: Limits = WINDOW) -> tuple[PromptView, Plan]:
    plan = layer.plan(view, limits, ask or SHORT)
    return view.apply(plan, layer=layer.id).view, plan


def after(layer: Layer, talk: Talk, ask: Ask | None = None, limits: Limits = WINDOW) -> list[str]:
    return shown(planned(layer, talk.view(), ask, limits)[0])


LONG = "result " * 30


class TestClearToolResults:
    def test_all_results_but_the_newest_become_a_placeholder(self) -> None:
        talk = Talk().user("go").call(LONG).call(LONG).call(LONG)
        assert after(ClearToolResults(keep=1), talk)[2::2] == ["[cleared]", "[cleared]", LONG]

    def test_results_of_excluded_tools_stay_and_are_not_counted(self) -> None:
        talk = Talk().call(LONG).call(LONG, tool="skill").call(LONG).call(LONG, tool="skill")
        assert after(ClearToolResults(keep=1, exclude_tools=("skill",)), talk)[1::2] == ["[cleared]", LONG, LONG, LONG]

    def test_short_results_stay(self) -> None:
        talk = Talk().call("x" * 50).call(LONG).call(LONG)
        assert after(ClearToolResults(keep=1, longer_than=50), talk)[1::2] == ["x" * 50, "[cleared]", LONG]

    def test_nothing_happens_where_too_little_would_be_saved(self) -> None:
        _, plan = planned(ClearToolResults(keep=0, clear_at_least=10_000), Talk().call(LONG).view())
        assert plan.edits == ()
        assert "< 10,000" in plan.skipped


class TestMaskToolResults:
    def test_results_beyond_the_protected_part_are_masked(self) -> None:
        talk = Talk().call(LONG).call(LONG).call(LONG).says("done")
        size = next(one.own for one in talk.view().blocks if one.block.kind == "tool_result")
        layer = MaskToolResults(protect_tokens=2 * size, least_gain=0)
        assert after(layer, talk)[1:6:2] == ["<tool_output_masked/>", LONG, LONG]

    def test_the_newest_turns_of_a_person_are_protected(self) -> None:
        talk = Talk().user("one").call(LONG).user("two").call(LONG).user("three").call(LONG)
        layer = MaskToolResults(protect_tokens=0, least_gain=0, protect_turns=2, protect_messages=0)
        assert after(layer, talk)[2::3] == ["<tool_output_masked/>", LONG, LONG]

    def test_a_small_gain_is_not_worth_it(self) -> None:
        _, plan = planned(MaskToolResults(protect_tokens=0, least_gain=5_000, protect_messages=0), Talk().call(LONG).view())
        assert plan.edits == ()
        assert "< 5,000" in plan.skipped


def test_thinking_of_all_but_the_newest_turns_goes_and_empties_no_call() -> None:
    talk = Talk().call("r", thinking="first").says("b", thinking="second").says("c", thinking="third")
    assert after(ClearThinking(keep_turns=1), talk) == ['{"command": "x"}', "r", "b", "third | c"]


def test_older_interactions_go_with_both_halves_and_texts_beside_them_stay() -> None:
    talk = Talk().user("go").calls(("a", "b")).says("text").call("c")
    assert after(DropInteractions(keep=1), talk) == ["go", "text", '{"command": "x"}', "c"]


def test_of_parallel_calls_the_newer_may_stay() -> None:
    talk = Talk().user("go").calls(("a", "b"))
    assert after(DropInteractions(keep=1), talk) == ["go", '{"command": "x"}', "b"]


class TestSlidingWindow:
    TALK = staticmethod(lambda: Talk().user("1").says("2").user("3").says("4").user("5"))

    @pytest.mark.parametrize(
        ("limits", "left"),
        [
            ({"keep_messages": 2}, ["4", "5"]),
            ({"keep_messages": 2, "keep_first": 1}, ["1", "4", "5"]),
            ({"keep_message_share": 0.5}, ["3", "4", "5"]),
            ({"keep_tokens": 2}, ["4", "5"]),
            ({"keep_ratio": 0.003}, ["3", "4", "5"]),
            ({"keep_share": 0.4}, ["4", "5"]),
            ({"keep_tokens": 0}, ["5"]),
            ({"keep_tokens": 0, "keep_at_least": 3}, ["3", "4", "5"]),
            ({}, ["5"]),
            ({"keep_messages": 9}, ["1", "2", "3", "4", "5"]),
        ],
    )
    def test_what_stays(self, limits: dict, left: list[str]) -> None:
        assert after(SlidingWindow(**limits), self.TALK()) == left

    def test_a_cut_inside_an_interaction_keeps_it_whole(self) -> None:
        talk = Talk().user("1").call("r").says("4")
        assert after(SlidingWindow(keep_messages=2), talk) == ['{"command": "x"}', "r", "4"]

    def test_a_head_that_ends_inside_an_interaction_grows(self) -> None:
        talk = Talk().user("1").call("r").says("4").user("5")
        assert after(SlidingWindow(keep_first=2, keep_messages=1), talk) == ["1", '{"command": "x"}', "r", "5"]

    def test_a_ratio_of_an_unknown_window_decides_nothing(self) -> None:
        _, plan = planned(SlidingWindow(keep_ratio=0.5), self.TALK().view(), limits=Limits())
        assert plan == Plan(skipped="keep_ratio needs a window, and none is known")


class TestSpillResults:
    def test_a_large_new_result_leaves_a_preview_and_the_way_back(self) -> None:
        view, plan = planned(SpillResults(longer_than=100, preview_chars=10), Talk().user("go").call("x" * 500).view(), StubAsk("abc"))
        assert plan.edits[0].state == "spilled"
        assert "artifact:abc:" in shown(view)[2]
        assert "\nxxxxxxxxxx\n" in shown(view)[2]

    def test_results_that_the_model_has_answered_stay(self) -> None:
        _, plan = planned(SpillResults(longer_than=100), Talk().call("x" * 500).says("seen").view(), StubAsk())
        assert plan.edits == ()

    def test_a_tool_may_have_a_limit_of_its_own(self) -> None:
        layer = SpillResults(longer_than=1_000, tool_limits=(("Bash", 100),), preview_chars=10)
        for tool, edits in (("Bash", 1), ("Grep", 0)):
            assert len(planned(layer, Talk().call("x" * 500, tool=tool).view(), StubAsk())[1].edits) == edits

    def test_the_limit_may_be_in_the_unit_of_the_policy(self) -> None:
        layer = SpillResults(longer_than=None, larger_than=1_000, preview_chars=10)
        assert planned(layer, Talk().call("word " * 2_000).view(), StubAsk())[1].edits
        assert not planned(layer, Talk().call("word " * 100).view(), StubAsk())[1].edits

    def test_without_a_store_the_text_stays(self) -> None:
        _, plan = planned(SpillResults(longer_than=100), Talk().call("x" * 500).view(), NoAsk())
        assert plan == Plan(skipped="1 large results, none was stored")


class TestLimitByKind:
    def test_each_kind_has_its_own_measure(self) -> None:
        log, json, diff = "2026-01-01 10:00:00 INFO x\n" * 40, '{"a": 1}\n' * 100, "diff --git a/x b/x\n" + "+line\n" * 100
        layer = LimitByKind(log="cut", log_chars=100, json="clear", json_chars=100, diff="keep", diff_chars=100)
        texts = after(layer, Talk().call(log).call(json).call(diff))[1::2]
        assert texts[0].startswith(log[:80])
        assert texts[0].endswith(log[-20:])
        assert "characters left out" in texts[0]
        assert texts[1:] == ["[cleared]", diff]

    def test_a_spill_that_no_store_takes_is_a_cut(self) -> None:
        layer = LimitByKind(json="spill", json_chars=100, preview_chars=50)
        text = '{"a": 1}\n' * 100
        assert "artifact:" in after(layer, Talk().call(text), StubAsk())[1]
        assert "characters left out" in after(layer, Talk().call(text), NoAsk())[1]

    def test_only_new_results_are_looked_at_where_that_is_asked(self) -> None:
        text = "2026-01-01 10:00:00 INFO x\n" * 40
        talk = Talk().call(text).says("seen").call(text)
        for only_new in (True, False):
            texts = after(LimitByKind(log_chars=100, only_new=only_new), talk)[1::3]
            assert [len(one) < len(text) for one in texts] == [not only_new, True]

    def test_where_every_kind_is_kept_nothing_happens(self) -> None:
        kept = LimitByKind(log="keep", diff="keep", json="keep", listing="keep", file="keep", other="keep")
        assert after(kept, Talk().call("word " * 9_000))[1] == "word " * 9_000

    def test_a_cut_that_would_not_be_shorter_is_not_made(self) -> None:
        assert after(LimitByKind(other_chars=100), Talk().call("word " * 21)) == ['{"command": "x"}', "word " * 21]


class TestSummaries:
    def test_everything_becomes_one_summary(self) -> None:
        view, plan = planned(SummariseAll(), Talk().user("go " * 40).call(LONG).view())
        assert shown(view) == ["[Summary of the conversation so far]\n\nsummary of 3"]
        assert [message.origin for message in view.messages] == ["summary"]
        assert plan.asked[0].outcome == "ok"

    def test_the_newest_texts_of_a_person_stay_within_a_budget_and_the_one_over_it_is_cut(self) -> None:
        talk = Talk().user("first " * 50).says("a " * 80).user("second " * 50).call(LONG).user("third")
        size = talk.view().messages[2].own
        texts = after(SummariseAll(keep_user_tokens=size), talk)
        assert len(texts) == 3
        assert ("second " * 50).startswith(texts[0])
        assert 0 < len(texts[0]) < len("second " * 50)
        assert texts[1] == "third"
        assert texts[2].endswith("summary of 4")

    def test_a_number_of_texts_of_a_person_may_stay(self) -> None:
        talk = Talk().user("first").says("a " * 80).user("second")
        assert after(SummariseAll(keep_user_messages=1), talk) == ["second", "[Summary of the conversation so far]\n\nsummary of 2"]

    def test_an_earlier_summary_is_merged_into_the_next(self) -> None:
        talk = Talk().summary("old " * 60).says("a").user("b")
        assert len(after(SummariseKeepRecent(keep_messages=1), talk)) == 2

    @pytest.mark.parametrize(("limits", "left"), [({"keep_messages": 1}, 2), ({"keep_tokens": 3}, 2), ({"keep_message_share": 0.5}, 3)])
    def test_head_and_newest_part_stay_around_a_summary(self, limits: dict, left: int) -> None:
        talk = Talk().user("go").says("a " * 60).user("b " * 60).says("c").user("the end of it")
        texts = after(SummariseKeepRecent(keep_first=1, **limits), talk)
        assert texts[0] == "go"
        assert texts[1].startswith("[Summary")
        assert texts[-1] == "the end of it"
        assert len(texts) == left + 1 + (limits.get("keep_message_share") is not None)

    @pytest.mark.parametrize(
        ("answer", "outcome"),
        [
            (lambda request: None, "blank"),
            (lambda request: "  ", "blank"),
            (lambda request: "y " * 9_000, "not_smaller"),
            (lambda r: 1 / 0, "failed"),
        ],
    )
    @pytest.mark.parametrize("layer", [SummariseAll(), SummariseKeepRecent(keep_messages=1)])
    def test_a_summary_that_failed_or_is_no_gain_changes_nothing(self, layer: Layer, answer: object, outcome: str) -> None:
        view = Talk().user("go " * 40).says("a " * 60).view()
        changed, plan = planned(layer, view, CallerAsk(answer))  # type: ignore[arg-type]
        assert changed is view or changed == view
        assert plan.asked[0].outcome == outcome

    def test_an_opaque_item_is_a_block_of_its_own_kind(self) -> None:
        view, _ = planned(OpaqueCompaction(keep_user_tokens=5), Talk().says("a " * 90).user("go").call(LONG).view())
        assert [visible.block.kind for visible in view.blocks] == ["text", "compaction"]
        assert view.messages[0].blocks[0].block.id.seq == 2

    @pytest.mark.parametrize("layer", [SummariseAll(), OpaqueCompaction()])
    def test_a_summary_that_a_caller_gives_back_is_no_text_of_a_person(self, layer: Layer) -> None:
        view = planned(layer, Talk().user("go " * 40).call(LONG).view())[0]
        again = read_wire(write_wire(view), view.pricer)
        assert [message.origin for message in again.messages] == ["summary"]
        assert shown(again) == shown(view)
        assert len(planned(SummariseAll(keep_user_tokens=500), again)[1].asked) == 1

    def test_the_request_says_how_long_the_answer_may_be_and_on_what_it_shall_look(self) -> None:
        asked: list[SummaryRequest] = []
        layer = SummariseAll(summary_tokens=77, focus="the ports")
        planned(layer, Talk().user("go").view(), CallerAsk(lambda request: asked.append(request)))
        assert [(request.most_tokens, request.focus) for request in asked] == [(77, "the ports")]


class TestRestoreFiles:
    TALK = staticmethod(
        lambda: Talk().user("go").call("old a", path="a.py").call("b " * 40, path="b.py").call("new a", path="a.py").call(LONG)
    )

    def restored(self, layer: RestoreFiles, talk: Talk | None = None) -> list[str]:
        start = (talk or self.TALK()).view()
        summarised = planned(SummariseAll(), start)[0]
        return shown(summarised.apply(layer.plan_since(start, summarised, WINDOW, SHORT), layer=layer.id).view)

    def test_the_newest_read_of_each_file_comes_back_behind_the_summary(self) -> None:
        texts = self.restored(RestoreFiles())
        assert texts[0].startswith("[Summary")
        assert [text.partition("\n")[2] for text in texts[1:]] == ["b " * 40, "new a"]
        assert "b.py" in texts[1]

    def test_as_many_as_the_limits_allow(self) -> None:
        assert len(self.restored(RestoreFiles(files=1))) == 2
        assert len(self.restored(RestoreFiles(tokens_together=25))) == 2
        cut = self.restored(RestoreFiles(tokens_each=20))
        assert len(cut[1]) < len("b " * 40)

    def test_without_a_summary_or_a_read_nothing_comes_back(self) -> None:
        view = self.TALK().view()
        assert RestoreFiles().plan_since(view, view, WINDOW, SHORT).skipped == "no summary was put in this run"
        assert RestoreFiles().plan(view, WINDOW, SHORT).edits == ()
        assert len(self.restored(RestoreFiles(), Talk().user("go " * 30).call(LONG))) == 1

    def test_a_read_that_is_still_in_the_view_does_not_come_twice(self) -> None:
        start = self.TALK().view()
        kept = planned(SummariseKeepRecent(keep_messages=4), start)[0]
        texts = shown(kept.apply(RestoreFiles().plan_since(start, kept, WINDOW, SHORT), layer="restore_files").view)
        assert sum("new a" in text for text in texts) == 1


GENERIC = (
    ClearThinking(keep_turns=1),
    ClearToolResults(keep=1),
    DropInteractions(keep=1),
    LimitByKind(log_chars=50, diff_chars=50, json_chars=200, listing_chars=50, file_chars=50, other_chars=200, preview_chars=20),
    LimitByKind(only_new=True, other_chars=200, json_chars=200, preview_chars=20),
    MaskToolResults(protect_tokens=100, least_gain=0),
    MaskToolResults(protect_tokens=50, least_gain=10, protect_turns=1, exclude_tools=("Read",)),
    ClearToolResults(keep=1, longer_than=30, exclude_tools=("Read",)),
    OpaqueCompaction(keep_user_tokens=50, item_tokens=10),
    SlidingWindow(keep_first=1, keep_messages=2),
    SlidingWindow(keep_tokens=100),
    SpillResults(longer_than=200, preview_chars=20),
    SummariseAll(keep_user_tokens=60, summary_tokens=20),
    SummariseAll(keep_first=2, summary_tokens=20),
    SummariseKeepRecent(keep_messages=2, keep_first=1, summary_tokens=20),
    SummariseKeepRecent(keep_share=0.3, summary_tokens=20),
)


@given(talks(), st.sampled_from(GENERIC), st.sampled_from(["exact", "estimate", "s14_chars4", "s08_repr", "course09_chars4", "dsh_utf16"]))
def test_every_layer_keeps_pairs_whole_balances_and_is_done_after_one_pass(talk: Talk, layer: Layer, unit: str) -> None:
    start = talk.view(unit)
    applied = start.apply(layer.plan(start, WINDOW, StubAsk()), layer=layer.id)
    assert sum(entry.tokens_after - entry.tokens_before for entry in applied.entries) == applied.view.tokens - start.tokens
    if layer.idempotent:
        assert layer.plan(applied.view, WINDOW, StubAsk()).edits == ()


@given(talks(), st.sampled_from(GENERIC))
def test_a_plan_depends_on_nothing_but_what_the_layer_is_given(talk: Talk, layer: Layer) -> None:
    assert layer.plan(talk.view(), WINDOW, StubAsk()) == layer.plan(talk.view(), WINDOW, StubAsk())


@pytest.mark.parametrize("kind", LAYERS, ids=lambda kind: kind.id)
def test_every_layer_can_be_made_without_limits_and_plans_nothing_for_an_empty_view(kind: type[Layer]) -> None:
    assert kind().plan(Talk().view(), WINDOW, StubAsk()).edits == ()


BAD: list[tuple[type[Layer], dict, str]] = [
    (ClearToolResults, {"keep": -1}, "keep"),
    (ClearToolResults, {"keep": True}, "keep"),
    (ClearToolResults, {"placeholder": " "}, "placeholder"),
    (ClearThinking, {"keep_turns": 0.5}, "keep_turns"),
    (DropInteractions, {"keep": -1}, "keep"),
    (MaskToolResults, {"least_gain": -1}, "least_gain"),
    (SlidingWindow, {"keep_share": 1.0}, "keep_share"),
    (SlidingWindow, {"keep_messages": 1, "keep_tokens": 1}, "keep_tokens"),
    (SpillResults, {"longer_than": -1}, "longer_than"),
    (LimitByKind, {"log": "shred"}, "log"),
    (LimitByKind, {"file_chars": -1}, "file_chars"),
    (LimitByKind, {"head_share": 0}, "head_share"),
    (SummariseAll, {"summary_tokens": 0}, "summary_tokens"),
    (SummariseAll, {"keep_user_tokens": -1}, "keep_user_tokens"),
    (SummariseKeepRecent, {"keep_ratio": 2}, "keep_ratio"),
    (OpaqueCompaction, {"item_tokens": 0}, "item_tokens"),
    (RestoreFiles, {"files": 0}, "files"),
]


@pytest.mark.parametrize(("kind", "limits", "field"), BAD, ids=[f"{kind.id}.{field}" for kind, _, field in BAD])
def test_a_limit_that_cannot_be_is_named(kind: type[Layer], limits: dict, field: str) -> None:
    with pytest.raises(LimitError) as refused:
        kind(**limits)
    assert refused.value.field == field
