"""The loop over layers: what runs when, when it stops, and what it reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from compaction.ask import Ask, Asked, CallerAsk, NoAsk, StubAsk, SummaryRequest, stub_summary
from compaction.counters.bpe import CL100K_BASE, O200K_BASE
from compaction.counters.units import unit_named
from compaction.errors import PolicyError, ProtocolError, SummarizerError, ViewLimitExceeded
from compaction.layers.prune_old_messages import PruneOldMessages
from compaction.layers.summarise_old import SummariseOld
from compaction.layers.truncate_results import TruncateResults
from compaction.limits import Limits
from compaction.pipeline import Compacted, Moment, compact, compact_if_needed
from compaction.policies import policy_named
from compaction.policy import Guard, Policy, Provenance, Stage, Trigger, When
from compaction.policy_json import with_settings
from compaction.pricing import Pricer
from compaction.transcript import Mechanism
from compaction.view import Plan, PromptView
from compaction.wire import read_wire

pytestmark = pytest.mark.nodb

SOURCE = Provenance(label="test", source="here", as_of="2026-11", grade="U")
Said = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """A layer that plans nothing and says which limits it was told."""

    id: ClassVar[str] = "idle"
    title: ClassVar[str] = "Idle"
    lossy: ClassVar[bool] = False
    mechanism: ClassVar[Mechanism] = "unknown"
    idempotent: ClassVar[bool] = True

    def plan(self, view: PromptView, limits: Limits, ask: Ask) -> Plan:
        return Plan(skipped=f"{limits.window} {limits.trigger} {limits.hard_limit}")


def _said(count: int, chars: int = 40) -> list[Said]:
    return [{"role": "user" if index % 2 == 0 else "assistant", "content": "x" * chars} for index in range(count)]


def _policy(*stages: Stage, value: float = 50, **fields: Any) -> Policy:
    trigger = fields.pop("trigger", Trigger(kind="tokens", value=value))
    return Policy(id="test", title="test", unit="s14_chars4", stages=stages, trigger=trigger, provenance=SOURCE, **fields)


def _run(messages: list[Said], policy: Policy, ask: Ask | None = None, **fields: Any) -> Compacted:
    return compact(read_wire(messages, Pricer(unit_named("s14_chars4"))), policy, ask or NoAsk(), **fields)


def _answering(*answers: str | None) -> tuple[CallerAsk, list[int]]:
    asked: list[int] = []

    def answer(request: SummaryRequest) -> str | None:
        asked.append(len(request.messages))
        return answers[len(asked) - 1]

    return CallerAsk(answer), asked


@pytest.mark.parametrize(("inclusive", "ran"), [(True, True), (False, False)])
def test_a_trigger_fires_at_its_value_or_only_above_it(inclusive: bool, ran: bool) -> None:
    trigger = Trigger(kind="tokens", value=28, inclusive=inclusive)
    (report,) = _run(_said(2), _policy(Stage(layer=Idle()), trigger=trigger)).reports
    assert report.ran is ran
    assert inclusive or report.skipped == "28 ≤ trigger 28"


@pytest.mark.parametrize(
    ("trigger", "fires"),
    [
        (Trigger(kind="ratio", value=0.8), True),
        (Trigger(kind="ratio", value=0.8, whole=False), False),
        (Trigger(kind="headroom", value=7), True),
        (Trigger(kind="headroom", value=6), False),
        (Trigger(kind="messages", value=2), True),
        (Trigger(kind="messages", value=2, inclusive=False), False),
        (Trigger(kind="events", value=3), False),
        (Trigger(kind="tokens", value=20, count="exact"), True),
        (Trigger(kind="tokens", value=21, count="exact"), False),
        (Trigger(kind="tokens", value=33, scope="prompt"), True),
        (Trigger(kind="tokens", value=33, scope="messages"), False),
    ],
)
def test_a_trigger_compares_what_it_names(trigger: Trigger, fires: bool) -> None:
    compacted = _run(_said(2), _policy(Stage(layer=Idle()), trigger=trigger), window=36 if trigger.kind == "ratio" else 35, hidden=5)
    assert compacted.reports[0].ran is fires


def test_a_share_of_an_unknown_window_never_fires_and_says_so() -> None:
    policy = _policy(Stage(layer=Idle()), trigger=Trigger(kind="ratio", value=0.8))
    compacted = _run(_said(9), policy)
    assert (compacted.trigger_value, compacted.reports[0].ran) == (None, False)
    assert "no window is known" in compacted.reports[0].skipped


def test_a_run_that_stops_below_checks_before_each_stage() -> None:
    stages = (Stage(layer=PruneOldMessages(keep_recent_messages=2)), Stage(layer=Idle()))
    below = _run(_said(9), _policy(*stages, stop="below"))
    assert [report.ran for report in below.reports] == [True, False]
    assert below.reports[1].skipped == "42 < trigger 50"
    assert [report.ran for report in _run(_said(9), _policy(*stages, stop="after_all")).reports] == [True, True]


@pytest.mark.parametrize(
    ("moment", "layers"),
    [("arrival", ["arrival"]), ("call", ["always", "over"]), ("overflow", ["overflow"]), ("asked", ["over"])],
)
def test_each_moment_has_its_stages(moment: Moment, layers: list[When]) -> None:
    every: tuple[When, ...] = ("arrival", "always", "over", "overflow")
    stages = [Stage(layer=Idle(), when=when) for when in every]
    assert len(_run(_said(9), _policy(*stages), moment=moment).reports) == len(layers)
    assert len(_run(_said(9), _policy(*stages), overflow=True).reports) == 1


def test_what_the_agent_asked_for_needs_no_trigger() -> None:
    ask, asked = _answering("short")
    compacted = _run(_said(9, 400), _policy(Stage(layer=SummariseOld()), value=10**6), ask, moment="asked")
    assert (compacted.status, asked) == ("ok", [5])


def test_a_stage_may_have_a_trigger_of_its_own() -> None:
    own = Trigger(kind="messages", value=9)
    stages = (Stage(layer=Idle(), trigger=own), Stage(layer=Idle()))
    assert [report.ran for report in _run(_said(9), _policy(*stages, value=10**6)).reports] == [True, False]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(None, "blank"), ("  \n", "blank"), ("L" * 400, "not_smaller")],
)
def test_a_summary_that_failed_or_is_not_smaller_changes_nothing(answer: str | None, outcome: str) -> None:
    ask, _ = _answering(answer)
    compacted = _run(_said(6), _policy(Stage(layer=SummariseOld()), guard=Guard(must_shrink=True)), ask)
    assert (compacted.status, compacted.edits, compacted.added) == ("failed", (), ())
    assert [asked.outcome for asked in compacted.reports[0].asked] == [outcome]
    assert compacted.reports[0].ran
    assert compacted.reports[0].skipped


def test_a_summarizer_that_raises_changes_nothing_and_its_words_stay_out_of_the_report() -> None:
    def answer(request: SummaryRequest) -> str:
        raise RuntimeError("secret words of the session")

    compacted = _run(_said(6), _policy(Stage(layer=SummariseOld())), CallerAsk(answer))
    (asked,) = compacted.reports[0].asked
    assert (compacted.status, asked.outcome, asked.reason) == ("failed", "failed", "no summary of 2 messages: RuntimeError")


def test_a_refused_summary_is_asked_for_again_as_often_as_the_policy_says() -> None:
    ask, asked = _answering("L" * 400, " ", "short", "of its own two messages")
    policy = _policy(Stage(layer=SummariseOld()), guard=Guard(must_shrink=True, retries=3), value=70)
    compacted = _run(_said(9), policy, ask)
    assert [one.outcome for one in compacted.reports[0].asked] == ["not_smaller", "blank", "ok", "not_smaller"]
    assert asked == [5, 5, 5, 2]
    assert compacted.status == "ok"


def test_without_a_guard_a_summary_may_grow() -> None:
    ask, _ = _answering("L" * 400)
    compacted = _run(_said(6), _policy(Stage(layer=SummariseOld())), ask)
    assert compacted.own_after > compacted.own_before
    assert compacted.applied_layers == ()


def test_a_view_at_the_hard_limit_is_an_error_with_figures_and_no_text() -> None:
    messages = [{"role": "user", "content": "secret " * 100}]
    policy = _policy(Stage(layer=TruncateResults()), guard=Guard(hard_limit=179))
    with pytest.raises(ViewLimitExceeded) as caught:
        _run(messages, policy)
    error = caught.value
    assert (error.hard_limit, error.tokens_before, error.tokens_after, error.applied_layers) == (179, 179, 179, ())
    assert error.compacted.status == "limit"
    assert "secret" not in str(error)
    assert _run(messages, _policy(Stage(layer=TruncateResults()), guard=Guard(hard_limit=180))).status == "noop"


def test_layers_are_told_the_limits_in_the_unit_of_the_policy() -> None:
    told = _run(_said(9), _policy(Stage(layer=Idle()), guard=Guard(hard_limit=500)), window=900).reports[0].skipped
    assert told == "900 50 500"
    messages = _policy(Stage(layer=Idle()), trigger=Trigger(kind="messages", value=3))
    assert _run(_said(9), messages).reports[0].skipped == "None None None"


def test_a_window_below_an_absolute_trigger_decides_nothing() -> None:
    assert _run(_said(9), _policy(Stage(layer=Idle())), window=40).reports[0].skipped == "None 50 None"


def test_the_window_of_the_policy_stands_in_for_an_unknown_one() -> None:
    policy = _policy(Stage(layer=Idle()), trigger=Trigger(kind="ratio", value=0.5), window=100)
    assert _run(_said(9), policy).trigger_value == 50


def test_wire_messages_are_validated_even_below_the_trigger() -> None:
    orphan = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "r"}]}]
    with pytest.raises(ProtocolError) as caught:
        compact_if_needed(orphan, _policy(Stage(layer=Idle()), value=10**6), NoAsk())
    assert (caught.value.code, caught.value.kind, caught.value.block) == ("tool_result_unmatched", "tool_result", "1.1")


def test_the_stub_answers_1500_tokens_without_a_word_and_at_most_what_is_asked_for() -> None:
    text = stub_summary(1500)
    assert (len(text), O200K_BASE.count(text).tokens, CL100K_BASE.count(text).tokens) == (6000, 1500, 1500)
    view = read_wire(_said(2), Pricer(unit_named("exact")))
    request = SummaryRequest(messages=view.messages, view=view, most_tokens=10)
    assert StubAsk().summarize(request) == stub_summary(10)
    assert (
        StubAsk("abc").store("text", "name")
        == "artifact:abc:982d9e3eb996.txt:982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
    )
    assert StubAsk().archive(view) is None


def test_nobody_to_ask_gives_nothing() -> None:
    view = read_wire(_said(2), Pricer(unit_named("exact")))
    assert (NoAsk().summarize(SummaryRequest(messages=(), view=view)), NoAsk().store("x", "y"), NoAsk().archive(view)) == (None, None, None)
    with pytest.raises(SummarizerError):
        CallerAsk(lambda request: 1 / 0).summarize(SummaryRequest(messages=(), view=view))  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Trigger(kind="ratio", value=1.5), "value"),
        (lambda: Trigger(kind="tokens", value=0), "value"),
        (lambda: Trigger(kind="tokens", value=float("nan")), "value"),
        (lambda: Trigger(kind="tokens", value=True), "value"),
        (lambda: Trigger(kind="words", value=1), "kind"),  # type: ignore[arg-type]
        (lambda: Stage(layer=Idle(), when="now"), "when"),  # type: ignore[arg-type]
        (lambda: Stage(layer=Idle(), when="always", trigger=Trigger(kind="tokens", value=1)), "trigger"),
        (lambda: Guard(retries=-1), "retries"),
        (lambda: Guard(hard_limit=0), "hard_limit"),
        (lambda: _policy(), "stages"),
        (lambda: _policy(Stage(layer=Idle()), trigger=None), "stages.0.trigger"),
        (lambda: _policy(Stage(layer=Idle()), guard=Guard(hard_limit=49)), "trigger.value"),
        (lambda: _policy(Stage(layer=Idle()), window=0), "window"),
        (lambda: _policy(Stage(layer=Idle()), stop="never"), "stop"),
        (lambda: Policy(id="A b", title="", unit="exact", stages=(Stage(layer=Idle(), when="always"),), provenance=SOURCE), "id"),
        (lambda: Policy(id="a", title="", unit="words", stages=(Stage(layer=Idle(), when="always"),), provenance=SOURCE), "unit"),
    ],
)
def test_a_policy_that_cannot_be_names_the_field(make: Callable[[], object], field: str) -> None:
    with pytest.raises(PolicyError) as caught:
        make()
    assert caught.value.field == field


def _s14(**settings: int) -> Policy:
    return with_settings(policy_named("workbuddy-s14"), settings)


def test_s14_removes_what_no_summary_ever_saw() -> None:
    ask, asked = _answering("short")
    first = _run(_said(20, 640), _s14(trigger=800, hard_limit=1200), ask)
    assert asked == [3]
    assert first.applied_layers == ("prune_old_messages", "summarise_old")
    assert len(first.view.messages) == 6
    assert first.reports[3].asked == (Asked(messages=3, outcome="ok"),)


def test_s14_works_again_on_its_own_result_where_it_stays_between_the_limits() -> None:
    """The pruning of the next call takes the acknowledgement that the summary put in."""
    ask, asked = _answering("short", "shorter")
    policy = _s14(trigger=500, hard_limit=1200)
    first = _run(_said(20, 640), policy, ask).view
    grown = PromptView.holding([*first.messages, *_run(_said(2, 640), policy).view.messages], first.pricer)
    assert [message.origin for message in grown.messages[:2]] == ["summary", "harness"]
    second = compact(grown, policy, ask)
    assert second.reports[2].edits == 1
    assert asked == [3, 3]
    assert "harness" in [message.origin for message in second.view.messages]


def test_s14_keeps_the_history_where_a_summary_is_not_smaller() -> None:
    ask, _ = _answering("L" * 8000)
    kept = _run(_said(6, 640), _s14(trigger=800, hard_limit=2000), ask)
    assert (kept.status, kept.own_after) == ("failed", kept.own_before)
