"""The rules of providers over the prompts of a lane, call by call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from compaction.edits import remove
from compaction.history import fold
from compaction.messages import BlockId, Message
from compaction.protocol_rules import ANTHROPIC, OPENAI
from compaction.provider_prompts import breaches_of_lane, prompts_of
from compaction.transcript import Event
from ctxweb.importers.claude_code import IMPORTER
from ctxweb.importers.physical import ReadLimits, read_records
from tests.compaction.lanes import SIZES, block, called, edited, message, said, tool_result, tool_use
from tests.shared import SHARED, needs_shared

CLAUDE_CODE = sorted((SHARED / "corpus" / "claude_code").glob("entireio__cli__*.jsonl"))


def lane(*events: Event | list[Event]) -> list[Event]:
    return [event for one in events for event in (one if isinstance(one, list) else [one])]


def told(events: list[Event], rules: object = ANTHROPIC) -> list[tuple[int, str, str]]:
    messages: list[Message] = []
    history = fold(events, SIZES, on_message=messages.append)
    return [(call, breach.code, breach.tool_id) for call, breach in breaches_of_lane(history, messages, rules)]  # type: ignore[arg-type]


def test_each_prompt_is_what_its_call_was_sent_in_order() -> None:
    messages = [message(1, "user", "hi", "there"), tool_use(2, "a"), tool_result(3, "a")]
    events = lane(said(messages[0]), called(1), said(*messages[1:]), called(2))
    history = fold(events, SIZES)
    prompts = dict(prompts_of(history.spans, [call.n for call in history.calls], messages, ANTHROPIC))
    assert [[len(turn.blocks) for turn in prompts[call]] for call in (1, 2)] == [[2], [2, 1, 1]]


def test_a_call_that_is_open_at_the_end_of_the_file_was_never_sent() -> None:
    assert told(lane(said(message(1, "user", "hi")), called(1), said(tool_use(2, "a")))) == []


def test_a_call_that_was_sent_without_its_result_is_told_at_the_first_call_that_saw_it() -> None:
    events = lane(said(message(1, "user", "hi")), called(1), said(tool_use(2, "a"), message(3, "user", "so")), called(2), called(3))
    assert told(events) == [(2, "call_unanswered", "a")]


def test_results_of_one_batch_that_were_logged_in_pieces_are_one_message() -> None:
    calls = tool_use(2, "a")
    batch = replace(calls, blocks=(*calls.blocks, block(2, 2, "use", "tool_use", "b")))
    events = lane(said(message(1, "user", "hi")), called(1), said(batch, tool_result(3, "b"), tool_result(4, "a")), called(2))
    assert told(events) == []
    assert {code for _, code, _ in told(events, OPENAI)} == {"result_in_wrong_role"}


def test_a_recorded_edit_that_splits_a_pair_is_told_where_it_was_first_sent() -> None:
    events = lane(
        said(message(1, "user", "hi")),
        called(1),
        said(tool_use(2, "a"), tool_result(3, "a")),
        called(2),
        edited(remove([BlockId(2, 1)])),
        called(3),
    )
    assert (3, "result_without_call", "a") in told(events)


def test_the_same_lane_keeps_one_providers_rules_and_breaks_anothers() -> None:
    events = lane(said(message(1, "user", "hi"), message(2, "user", "there")), called(1))
    assert [code for _, code, _ in told(events)] == ["role_repeated"]
    assert told(events, OPENAI) == []


@needs_shared
@pytest.mark.nodb
@pytest.mark.parametrize("path", CLAUDE_CODE[:6], ids=lambda path: path.stem)
def test_what_a_provider_took_breaks_no_rule_about_pairs(path: Path) -> None:
    """Users' messages in a row are logged apart and were merged when they were sent; nothing else is broken."""
    reader = IMPORTER.reader()
    with path.open("rb") as stream:
        for record in read_records(stream, limits=ReadLimits(), layout="lines", looks_like_record=IMPORTER.looks_like_record):
            reader.feed(record)
    for read in reader.lanes():
        assert {code for _, code, _ in told(list(read.events))} <= {"role_repeated"}
