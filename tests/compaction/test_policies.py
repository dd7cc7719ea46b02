"""The registry of policies, their data, their settings, and what is refused."""

from __future__ import annotations

import copy
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.ask import StubAsk
from compaction.errors import PolicyError
from compaction.layers import LAYERS
from compaction.pipeline import compact, compact_if_needed
from compaction.policies import POLICIES, policy_named
from compaction.policy import Policy, Stage, Trigger, Variant
from compaction.policy_json import (
    policy_for,
    policy_from_data,
    policy_to_data,
    setting_names,
    variant_named,
    with_settings,
)
from tests.compaction.talk import Talk
from tests.shared import SHARED, needs_shared

WINDOW = 20_000
every_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.id)


def long_talk() -> Talk:
    """More of everything than any policy leaves alone in a window of 20,000 tokens."""
    talk = Talk().user("Find out why the totals are wrong. " * 20)
    for index in range(80):
        talk.call("line of a log " * 400, thinking="Where is it?" * 10, path=f"src/{index % 7}.py" if index % 3 else None)
        talk.says("The next file may tell. " * 5, thinking="hm " * 20)
        if index % 10 == 0:
            talk.user("Go on, and do not touch the port. " * 5)
    return talk.call("word " * 200_000)


@every_policy
def test_a_policy_is_written_as_json_and_read_as_the_same_value(policy: Policy) -> None:
    assert policy_from_data(json.loads(json.dumps(policy_to_data(policy)))) == policy


@every_policy
def test_a_policy_says_where_its_numbers_come_from(policy: Policy) -> None:
    provenance = policy.provenance
    assert provenance.label
    assert provenance.source
    assert re.fullmatch(r"20\d\d-[01]\d", provenance.as_of)
    assert {type(stage.layer) for stage in policy.stages} <= set(LAYERS)


@every_policy
def test_a_policy_does_something_to_a_session_that_is_long_enough(policy: Policy) -> None:
    view = long_talk().view(policy.unit)
    runs = [compact(view, _without_hard_limit(policy), StubAsk(), moment=moment, window=WINDOW) for moment in ("arrival", "call")]
    assert any(run.edits for run in runs)
    for run in runs:
        assert run.own_after <= run.own_before


@every_policy
def test_what_a_policy_leaves_takes_each_of_its_settings(policy: Policy) -> None:
    for name, value in setting_names(policy).items():
        assert with_settings(policy, {name: value}) == policy


@every_policy
def test_every_variant_can_be_had_by_name(policy: Policy) -> None:
    for variant in policy.variants:
        assert variant_named(policy, variant.id) != policy


def test_ids_are_distinct_and_lead_to_their_policies() -> None:
    assert len({policy.id for policy in POLICIES}) == len(POLICIES)
    assert policy_named("dsh-basic").title.startswith("DeepSeek")
    with pytest.raises(PolicyError, match="workbuddy-s14"):
        policy_named("none of them")


@needs_shared
def test_every_preset_of_the_table_has_its_policy() -> None:
    section = (SHARED / "specs" / "formats.md").read_text().partition("## 10.")[2].partition("\n## ")[0]
    rows = [cell.partition(" (")[0] for cell in re.findall(r"^\| ([a-z][^|]+?) \|", section, re.MULTILINE)]
    named = {name for row in rows if row != "preset" for name in _presets(row)}
    assert len(named) > 30
    assert named <= {policy.id for policy in POLICIES}


def _presets(row: str) -> list[str]:
    """The names of a row: `inspect_trim / edit` names `inspect-trim` and `inspect-edit`."""
    first, *others = row.replace("_", "-").split(" / ")
    first, *slashed = first.split("/")
    return [first, *(f"{first.partition('-')[0]}-{other}" for other in (*slashed, *others))]


# --- data that cannot be


def data() -> dict:
    return dict(json.loads(json.dumps(policy_to_data(policy_named("pi")))))


def changed(path: str, value: object) -> dict:
    """The data of a good policy with one thing changed; `...` takes it away."""
    given = copy.deepcopy(data())
    place: object = given
    *parents, last = [int(name) if name.isdigit() else name for name in path.split(".")]
    for name in parents:
        place = place[name]  # type: ignore[index]
    if value is ...:
        del place[last]  # type: ignore[attr-defined]
    else:
        place[last] = value  # type: ignore[index]
    return given


REFUSED = [
    ("id", ..., "id"),
    ("id", "Not An Id", "id"),
    ("id", 7, "id"),
    ("title", None, "title"),
    ("unit", "bytes", "unit"),
    ("colour", "red", "colour"),
    ("stop", "never", "stop"),
    ("stages", [], "stages"),
    ("stages", {}, "stages"),
    ("stages", ..., "stages"),
    ("stages.0.layer.id", "shred", "stages.0.layer.id"),
    ("stages.0.layer.id", ..., "stages.0.layer.id"),
    ("stages.0.layer", "sliding_window", "stages.0.layer"),
    ("stages.0.layer.keep", 3, "stages.0.layer.keep"),
    ("stages.0.layer.keep_tokens", -1, "stages.0.layer.keep_tokens"),
    ("stages.0.layer.keep_tokens", 1.5, "stages.0.layer.keep_tokens"),
    ("stages.0.layer.keep_tokens", True, "stages.0.layer.keep_tokens"),
    ("stages.0.layer.keep_tokens", "20000", "stages.0.layer.keep_tokens"),
    ("stages.0.layer.keep_share", 1.5, "stages.0.layer.keep_share"),
    ("stages.0.layer.keep_messages", 4, "stages.0.layer.keep_tokens"),
    ("stages.0.layer.focus", None, "stages.0.layer.focus"),
    ("stages.0.when", "later", "stages.0.when"),
    ("stages.0.why", "so", "stages.0.why"),
    ("trigger", None, "stages.0.trigger"),
    ("trigger", 60000, "trigger"),
    ("trigger.kind", "bytes", "trigger.kind"),
    ("trigger.value", -1, "trigger.value"),
    ("trigger.value", 0, "trigger.value"),
    ("trigger.value", float("nan"), "trigger.value"),
    ("trigger.value", float("inf"), "trigger.value"),
    ("trigger.value", True, "trigger.value"),
    ("trigger.value", "16384", "trigger.value"),
    ("trigger.count", "guess", "trigger.count"),
    ("trigger.inclusive", 1, "trigger.inclusive"),
    ("guard.retries", -1, "guard.retries"),
    ("guard.hard_limit", 0, "guard.hard_limit"),
    ("guard", [], "guard"),
    ("window", -5, "window"),
    ("window", 16_000, "trigger.value"),
    ("window", 30_000, "stages.0.layer.keep_tokens"),
    ("provenance.grade", "A", "provenance.grade"),
    ("provenance.source", ..., "provenance.source"),
    ("notes", "one", "notes"),
    ("notes", [1], "notes.0"),
    ("variants", [{"id": "x", "title": "x", "settings": {"trigger": -1}}], "variants.0.settings.trigger"),
    ("variants", [{"id": "x", "title": "x", "settings": {"nothing.keep": 1}}], "variants.0.settings.nothing.keep"),
    ("variants", [{"id": "x", "title": "x", "settings": {"trigger": [[1]]}}], "variants.0.settings.0.1.0"),
    ("variants", [{"id": "x", "title": "x", "settings": [], "lanes": ["side"]}], "variants.0.lanes.0"),
    ("trigger.value", 10**400, "trigger.value"),
    ("window", 10**13, "window"),
    ("guard.hard_limit", 10**5_000, "guard.hard_limit"),
    ("guard.retries", 101, "guard.retries"),
    ("stages.0.layer.keep_tokens", 10**30, "stages.0.layer.keep_tokens"),
    ("stages.0.when", 10**5_000, "stages.0.when"),
    ("stages", 101 * [{"layer": {"id": "dedup_file_reads"}}], "stages"),
    ("title", "t" * 201, "title"),
    ("title", "half \ud83d", "title"),
    ("k" * 1_000_000, 1, "k" * 80),
]


@pytest.mark.parametrize(("path", "value", "field"), REFUSED, ids=[f"{number} {path[:40]}" for number, (path, *_) in enumerate(REFUSED)])
def test_data_that_cannot_be_are_refused_with_the_field(path: str, value: object, field: str) -> None:
    with pytest.raises(PolicyError) as refused:
        policy_from_data(changed(path, value))
    assert refused.value.field == field
    assert len(str(refused.value)) < 2_000


@pytest.mark.parametrize("given", [None, [], "pi", 7])
def test_what_is_no_mapping_is_refused(given: object) -> None:
    with pytest.raises(PolicyError):
        policy_from_data(given)


ODD: list[object] = [None, True, 0, -1, 3, 0.5, 2e9, float("nan"), "", "a", "0", [], {}, [1], [["a", 1]], {"id": "pi"}]
PATHS = [
    "id",
    "unit",
    "stages",
    "stages.0",
    "stages.0.layer",
    "stages.0.layer.keep_ratio",
    "stages.0.trigger",
    "trigger",
    "variants",
    "guard",
    "notes",
]


@given(st.sampled_from(PATHS), st.sampled_from(ODD))
def test_any_value_in_any_place_is_read_or_refused(path: str, value: object) -> None:
    try:
        policy = policy_from_data(changed(path, value))
    except PolicyError:
        return
    assert policy_from_data(policy_to_data(policy)) == policy


KEPT = [
    ("llamaindex-buffer", {"sliding_window.keep_ratio": 0.8}, "sliding_window.keep_ratio"),
    ("llamaindex-buffer", {"trigger": 0.5}, "trigger"),
    ("dsh-basic", {"summarise_range.keep_ratio": 0.8}, "summarise_range.keep_ratio"),
    ("gemini-generalist", {"trigger": 60_000}, "trigger"),
    ("gemini-generalist", {"summarise_keep_recent.keep_tokens": 150_000}, "summarise_keep_recent.keep_tokens"),
    ("strands-sliding", {"sliding_window.keep_messages": 41}, "sliding_window.keep_messages"),
    ("openhands-default", {"trigger": 30}, "trigger"),
    ("claude-code-auto", {"window": 33_000}, "window"),
    ("workbuddy-s14", {"trigger": 130_000}, "trigger"),
    ("workbuddy-s14", {"hard_limit": 70_000}, "hard_limit"),
    ("workbuddy-s14", {"hard_limit": 0}, "hard_limit"),
    ("workbuddy-s14", {"prune_old_messages.keep_recent_messages": -1}, "prune_old_messages.keep_recent_messages"),
    ("workbuddy-s14", {"sliding_window.keep_messages": 3}, "sliding_window.keep_messages"),
    ("workbuddy-s14", {"trigger.value": 3}, "trigger.value"),
    ("workbuddy-s14", {"trigger": "soon"}, "trigger"),
    ("gemini-mask", {"trigger": 1_000}, "trigger"),
    ("workbuddy-s14", {"trigger": 10**400}, "trigger"),
    ("workbuddy-s14", {"window": 10**5_000}, "window"),
    ("workbuddy-s14", {"window": "9" * 190}, "window"),
    ("workbuddy-s14", {"x" * 1_000: 1}, "x" * 80),
]


@pytest.mark.parametrize(
    ("policy_id", "settings", "field"),
    KEPT,
    ids=[f"{number} {policy_id} {field[:40]}" for number, (policy_id, _, field) in enumerate(KEPT)],
)
def test_settings_that_cannot_be_are_refused_with_their_name(policy_id: str, settings: dict[str, object], field: str) -> None:
    with pytest.raises(PolicyError) as refused:
        with_settings(policy_named(policy_id), settings)
    assert refused.value.field == field


def test_settings_reach_trigger_window_limits_and_every_stage_of_a_layer() -> None:
    kimi = with_settings(policy_named("kimi-cli"), {"trigger": "0.5", "window": "100000", "summarise_keep_recent.keep_messages": 4})
    assert kimi.trigger == Trigger(kind="ratio", value=0.5, count="usage", scope="prompt")
    assert kimi.window == 100_000
    assert [getattr(stage.layer, "keep_messages", None) for stage in kimi.stages] == [4, 4]
    s14 = with_settings(policy_named("workbuddy-s14"), {"trigger": 60_000, "hard_limit": "none"})
    assert s14.trigger is not None
    assert (s14.trigger.value, s14.guard.hard_limit) == (60_000, None)


TOGETHER: list[tuple[str, dict[str, object]]] = [
    ("workbuddy-s14", {"trigger": 130_000, "hard_limit": 150_000}),
    ("workbuddy-s14", {"trigger": 40_000, "hard_limit": 50_000}),
    ("learn-claude-code-s08", {"snip_messages.keep_head": 60, "snip_messages.max_messages": 70}),
    ("learn-claude-code-s08", {"snip_messages.keep_head": 1, "snip_messages.max_messages": 2}),
]


@pytest.mark.parametrize(("policy_id", "settings"), TOGETHER)
def test_settings_that_are_held_to_each_other_are_taken_together_in_any_order(policy_id: str, settings: dict[str, object]) -> None:
    policy, turned = policy_named(policy_id), dict(reversed(settings.items()))
    assert with_settings(policy, settings) == with_settings(policy, turned)
    assert settings.items() <= setting_names(with_settings(policy, settings)).items()


@pytest.mark.parametrize("settings", [{"trigger": 9, "hard_limit": 8}, {"hard_limit": 8, "trigger": 9}])
def test_a_trigger_above_the_hard_limit_that_is_set_with_it_is_refused_by_its_name(settings: dict[str, object]) -> None:
    with pytest.raises(PolicyError) as refused:
        with_settings(policy_named("workbuddy-s14"), settings)
    assert refused.value.field == "trigger"


def test_a_text_stands_for_the_kind_of_its_field() -> None:
    masked = with_settings(
        policy_named("opencode"),
        {"mask_tool_results.exclude_tools": "skill,todo", "mask_tool_results.placeholder": "12", "summarise_all.must_shrink": "false"},
    )
    layers = {stage.layer.id: stage.layer for stage in masked.stages}
    assert (layers["mask_tool_results"].exclude_tools, layers["mask_tool_results"].placeholder) == (("skill", "todo"), "12")  # type: ignore[attr-defined]
    assert layers["summarise_all"].must_shrink is False  # type: ignore[attr-defined]


def test_limits_differ_by_lane_and_for_sessions_that_begin_with_a_summary() -> None:
    policy = policy_named("by-content")

    def keeps(one: Policy) -> tuple[object, object]:
        names = setting_names(one)
        return names["clear_tool_results.keep"], names["summarise_keep_recent.keep_first"]

    assert policy_for(policy, "main") == policy
    assert keeps(policy_for(policy, "subagent")) == (3, 1)
    assert keeps(policy_for(policy, "main", starts_from_summary=True)) == (6, 2)
    assert keeps(policy_for(policy, "subagent", starts_from_summary=True)) == (3, 2)


def test_a_variant_that_names_no_lane_holds_only_where_it_is_asked_for() -> None:
    openhands = policy_named("openhands-default")
    assert policy_for(openhands, "main") == openhands
    trigger = variant_named(openhands, "planning").trigger
    assert trigger is not None
    assert trigger.value == 100
    with pytest.raises(PolicyError):
        variant_named(openhands, "none")
    assert not Variant(id="x", title="x", settings=()).holds_for("main", starts_from_summary=True)


def test_files_come_back_after_the_summary_of_a_run() -> None:
    run = compact(long_talk().view(), policy_named("claude-code-auto"), StubAsk(), window=200_000)
    assert [(report.layer, report.ran) for report in run.reports] == [("summarise_all", True), ("restore_files", True)]
    assert {edit.layer for edit in run.edits if edit.verb == "restore"} == {"restore_files"}
    assert len(run.added) == 6


def _without_hard_limit(policy: Policy) -> Policy:
    return with_settings(policy, {"hard_limit": None})


def test_a_stage_that_does_not_run_over_a_trigger_has_none() -> None:
    layer = policy_named("pi").stages[0].layer
    with pytest.raises(PolicyError):
        Stage(layer=layer, when="always", trigger=Trigger(kind="tokens", value=1))


def wire_messages() -> list[dict[str, object]]:
    messages: list[dict[str, object]] = [{"role": "user", "content": "Find out why the totals are wrong."}]
    for index in range(60):
        call = {"type": "tool_use", "id": f"c{index}", "name": "Bash", "input": {"command": "make"}}
        messages.append({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "x"}, call]})
        result = {"type": "tool_result", "tool_use_id": f"c{index}", "content": f"{index} line of a log\n" * 300}
        messages.append({"role": "user", "content": [result]})
    return [*messages, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "And now?"}]


@every_policy
def test_a_policy_shrinks_the_messages_of_a_caller_and_leaves_them_valid(policy: Policy) -> None:
    given = wire_messages()
    policy = _without_hard_limit(policy)
    after = compact_if_needed(given, policy, StubAsk(), window=WINDOW)
    assert given == wire_messages()
    assert after.compacted.own_after <= after.compacted.own_before
    assert compact_if_needed(after.messages, policy, StubAsk(), window=WINDOW).compacted.own_before == after.compacted.own_after
