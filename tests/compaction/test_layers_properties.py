"""What holds for every layer and every session: each layer of the registry is held to it."""

from __future__ import annotations

import copy
import json
from dataclasses import MISSING, Field, fields
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from compaction.ask import StubAsk
from compaction.counters.units import UNITS, Unit, unit_named
from compaction.errors import LimitError, ViewLimitExceeded
from compaction.layers import LAYERS
from compaction.layers.base import Layer
from compaction.layers.dedup_file_reads import DedupFileReads
from compaction.layers.prune_old_messages import PruneOldMessages
from compaction.layers.summarise_old import SummariseOld
from compaction.layers.truncate_results import TruncateResults
from compaction.limits import Limits
from compaction.pipeline import compact, compact_if_needed
from compaction.policy import Guard, Policy, Provenance, Stage, Trigger
from compaction.pricing import Pricer
from compaction.protocol import validate_view
from compaction.transcript import Mechanism
from compaction.view import PromptView
from compaction.wire import read_wire, write_wire
from tests.compaction.wire_sessions import wire_sessions

pytestmark = pytest.mark.nodb

SUMMARIES: tuple[Mechanism, ...] = ("summary", "checkpoint_replace", "remote_opaque")
SMALL = st.sampled_from([1, 2, 3, 4, 6, 10, 40, 150, 500])
EXAMPLES = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
each_layer = pytest.mark.parametrize("cls", LAYERS, ids=[cls.id for cls in LAYERS])


@st.composite
def layers(draw: st.DrawFn, cls: type[Layer]) -> Layer:
    """The layer with its own limits, or with some of its whole numbers drawn."""
    drawn = {one.name: draw(SMALL) for one in fields(cls) if _is_whole(one) and draw(st.booleans())}  # type: ignore[arg-type]
    try:
        return cls(**drawn)
    except LimitError:
        return cls()


def _is_whole(one: Field[Any]) -> bool:
    return one.default is not MISSING and isinstance(one.default, int) and not isinstance(one.default, bool)


LIMITS = st.sampled_from([Limits(), Limits(trigger=50), Limits(window=400, trigger=300), Limits(window=200_000, trigger=160_000)])
UNIT = st.sampled_from(UNITS)


def _view(messages: list[dict[str, Any]], unit: Unit) -> PromptView:
    return read_wire(messages, Pricer(unit))


@each_layer
@EXAMPLES
@given(messages=wire_sessions(), unit=UNIT, limits=LIMITS, draw=st.data())
def test_a_layer_leaves_what_it_was_given_and_a_valid_view(
    cls: type[Layer], messages: list[dict[str, Any]], unit: Unit, limits: Limits, draw: st.DataObject
) -> None:
    layer, same, before = draw.draw(layers(cls)), list(messages), copy.deepcopy(messages)
    view = _view(messages, unit)
    applied = view.apply(layer.plan(view, limits, StubAsk()), layer=layer.id)
    validate_view(applied.view)
    written = write_wire(applied.view)
    assert messages == before
    assert all(one is other for one, other in zip(messages, same, strict=True))
    kept = {id(message) for message in messages}
    assert [id(one) for one in written if id(one) in kept] == [id(one) for one in messages if any(one is other for other in written)]


@each_layer
@EXAMPLES
@given(messages=wire_sessions(), unit=UNIT, limits=LIMITS, draw=st.data())
def test_the_edits_of_a_layer_are_the_account_of_what_changed(
    cls: type[Layer], messages: list[dict[str, Any]], unit: Unit, limits: Limits, draw: st.DataObject
) -> None:
    layer = draw.draw(layers(cls))
    view = _view(messages, unit)
    applied = view.apply(layer.plan(view, limits, StubAsk()), layer=layer.id)
    chars = {visible.block.id: visible.body.chars for visible in view.blocks}
    assert all(edit.body is not None and edit.body.chars < chars[edit.block] for edit in applied.edits if edit.block is not None)
    assert view.own + sum(entry.own_after - entry.own_before for entry in applied.entries) == applied.view.own
    assert view.tokens + sum(entry.tokens_after - entry.tokens_before for entry in applied.entries) == applied.view.tokens
    assert {edit.layer for edit in applied.edits} <= {layer.id}
    assert applied.edits or applied.view is view


@each_layer
@EXAMPLES
@given(messages=wire_sessions(), limits=LIMITS, unit=st.sampled_from([unit_named("s14_chars4"), unit_named("s08_repr")]), draw=st.data())
def test_a_view_costs_what_its_messages_cost_when_they_are_read_again(
    cls: type[Layer], messages: list[dict[str, Any]], limits: Limits, unit: Unit, draw: st.DataObject
) -> None:
    layer = draw.draw(layers(cls))
    view = _view(messages, unit)
    applied = view.apply(layer.plan(view, limits, StubAsk()), layer=layer.id)
    assert read_wire(write_wire(applied.view), Pricer(unit)).own == applied.view.own


@pytest.mark.parametrize("cls", [cls for cls in LAYERS if cls.idempotent], ids=[cls.id for cls in LAYERS if cls.idempotent])
@EXAMPLES
@given(messages=wire_sessions(), unit=UNIT, limits=LIMITS, draw=st.data())
def test_a_layer_run_again_on_its_own_result_plans_nothing(
    cls: type[Layer], messages: list[dict[str, Any]], unit: Unit, limits: Limits, draw: st.DataObject
) -> None:
    layer = draw.draw(layers(cls))
    view = _view(messages, unit)
    after = view.apply(layer.plan(view, limits, StubAsk()), layer=layer.id).view
    assert layer.plan(after, limits, StubAsk()).edits == ()


def test_only_summaries_may_plan_again_on_their_own_result() -> None:
    """s08's snip counts its old placeholder as one message more and fires again: the ledger knows the true sum."""
    assert {cls.id for cls in LAYERS if not cls.idempotent and cls.mechanism not in SUMMARIES} <= {"snip_messages"}


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """The four layers of s14 with limits small enough for small sessions."""
    trigger = draw(st.integers(1, 900))
    stages = (
        TruncateResults(max_tool_result_tokens=draw(SMALL)),
        DedupFileReads(),
        PruneOldMessages(keep_recent_messages=draw(st.integers(1, 8))),
        SummariseOld(most_tokens=draw(SMALL)),
    )
    return Policy(
        id="drawn",
        title="drawn",
        unit=draw(st.sampled_from([unit.id for unit in UNITS])),
        trigger=Trigger(kind="tokens", value=trigger, inclusive=draw(st.booleans())),
        stages=tuple(Stage(layer=layer) for layer in stages),
        stop=draw(st.sampled_from(["below", "after_all"])),
        guard=Guard(must_shrink=True, retries=draw(st.integers(0, 2)), hard_limit=draw(st.sampled_from([None, trigger + 100]))),
        provenance=Provenance(label="drawn", source="", as_of="", grade="U"),
    )


@EXAMPLES
@given(messages=wire_sessions(), policy=policies())
def test_a_run_below_its_trigger_plans_nothing_and_its_sizes_balance(messages: list[dict[str, Any]], policy: Policy) -> None:
    try:
        first = compact_if_needed(messages, policy, StubAsk()).compacted
    except ViewLimitExceeded as error:
        first = error.compacted
    hard_limit = policy.guard.hard_limit
    assert (first.status == "limit") == (hard_limit is not None and first.own_after >= hard_limit)
    validate_view(first.view)
    assert [report.own_before for report in first.reports[1:]] == [report.own_after for report in first.reports[:-1]]
    assert (first.own_before, first.own_after) == (first.reports[0].own_before, first.view.own)
    assert sum(report.edits for report in first.reports) == len(first.edits)
    assume(policy.trigger is not None and first.own_after < policy.trigger.value)
    again = compact(first.view, policy, StubAsk())
    assert (again.status, again.edits) == ("noop", ())
    assert again.view is first.view


@EXAMPLES
@given(messages=wire_sessions(), policy=policies())
def test_system_prompt_tools_and_durable_state_pass_by_every_layer(messages: list[dict[str, Any]], policy: Policy) -> None:
    request = {"system": "You are …\n", "tools": [{"name": "bash"}], "messages": messages}
    around, durable = json.dumps({**request, "messages": []}), {"facts": ["never in a summary"]}
    try:
        after = compact_if_needed(messages, policy, StubAsk(), durable=durable)
    except ViewLimitExceeded:
        return
    assert json.dumps({**request, "messages": []}) == around
    assert after.durable is durable
    assert "never in a summary" not in repr(after.messages)
