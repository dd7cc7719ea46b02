"""The policies of mini-harness 09 and dsh do what the two programs do: the same attempts over the same messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from compaction.ask import CallerAsk, StubAsk
from compaction.layers.prune_results import PruneResults
from compaction.layers.spill_head_tail import SpillHeadTail
from compaction.pipeline import Compacted, Moment, compact_if_needed
from compaction.policies import policy_named
from compaction.policy import Policy, Provenance, Stage, Trigger

PRICES = [10, 9, 348, 8, 327, 11, 395, 10, 369, 8, 327, 9, 358, 9, 348, 9, 353, 9, 342, 11, 384, 8, 332, 8, 332]
"""Tokens of each message of the conversation that mini-harness 09's text counts: 4 334 together."""


SPILLING = Policy(
    id="spill-then-prune",
    title="Spill, then prune",
    unit="dsh_utf16",
    trigger=Trigger(kind="ratio", value=0.8),
    stages=(Stage(layer=SpillHeadTail(), when="arrival"), Stage(layer=PruneResults())),
    provenance=Provenance(label="dsh with its bundled spill limit", source="tests", as_of="2026-10", grade="S"),
)


def conversation() -> Iterator[dict[str, object]]:
    for index, tokens in enumerate(PRICES):
        role = "system" if index == 0 else "user" if index % 2 else "assistant"
        yield {"role": role, "content": "." * (4 * (tokens - 4))}


def course09(window: int, *summaries: str) -> Compacted:
    answers = iter(summaries)
    ask = CallerAsk(lambda request: next(answers))
    return compact_if_needed(list(conversation()), policy_named("mini-harness-09"), ask, window=window).compacted


@pytest.mark.parametrize(
    ("window", "summaries", "asked", "messages_after"),
    [
        (4000, ("s" * 20_000, "ss"), [(21, "not_smaller"), (21, "ok")], 5),
        (4000, ("s" * 20_000, "s" * 20_000), [(21, "not_smaller"), (21, "not_smaller")], 25),
        (4000, ("", ""), [(21, "blank"), (21, "blank")], 25),
        (1500, ("s" * 8000, "s" * 100), [(23, "ok"), (1, "ok")], 3),
        (1_000_000, ("s",), [], 25),
    ],
    ids=["not smaller, then good", "not smaller twice", "blank twice", "still over after one", "below the threshold"],
)
def test_attempts_and_their_ranges_are_those_of_mini_harness_09(
    window: int, summaries: tuple[str, ...], asked: list[tuple[int, str]], messages_after: int
) -> None:
    compacted = course09(window, *summaries)
    assert compacted.own_before == 4334
    assert [(one.messages, one.outcome) for report in compacted.reports for one in report.asked] == asked
    assert len(compacted.view.messages) == messages_after


def calls_and_results(chars: int, count: int) -> Iterator[dict[str, object]]:
    yield {"role": "user", "content": "task"}
    for index in range(count):
        yield {"role": "assistant", "content": [{"type": "tool_use", "id": f"t{index}", "name": "shell", "input": {}}]}
        yield {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{index}", "content": "r" * chars}]}


def dsh(messages: list[dict[str, object]], moment: Moment, window: int, policy: Policy | None = None) -> Compacted:
    return compact_if_needed(messages, policy or policy_named("dsh-basic"), StubAsk(), window=window, moment=moment).compacted


def test_a_prune_that_suffices_needs_no_summary() -> None:
    compacted = dsh(list(calls_and_results(20_000, 4)), "call", 20_000)
    assert [(report.layer, report.edits > 0) for report in compacted.reports] == [("prune_results", True), ("summarise_range", False)]
    assert compacted.reports[1].skipped.endswith("< trigger 16,000")


def test_after_an_overflow_the_results_are_pruned_and_all_but_the_last_pair_is_summarised() -> None:
    compacted = dsh(list(calls_and_results(20_000, 6)), "overflow", 1_000_000)
    assert [(report.layer, report.edits) for report in compacted.reports] == [("prune_results", 6), ("summarise_range", 1)]
    assert [len(message.blocks) for message in compacted.view.messages] == [3, 1, 1]
    assert compacted.view.messages[1].uses == compacted.view.messages[2].results == ("t5",)


def test_a_large_result_is_spilled_when_it_arrives_and_pruned_only_once_over() -> None:
    messages = list(calls_and_results(60_000, 1))
    arrived = dsh(messages, "arrival", 1_000_000, SPILLING)
    assert [(report.layer, report.edits) for report in arrived.reports] == [("spill_head_tail", 1)]
    assert dsh(messages, "call", 1_000_000, SPILLING).edits == ()
