"""Anthropic messages: lists, requests, responses and logs of them; what the server cleared or compacted before an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxweb.importers.anthropic_messages import IMPORTER
from tests.ctxweb.importers.readings import SAMPLES, LaneReading, head_of, jsonl, read
from tests.shared import SHARED, needs_shared

Record = dict[str, Any]

SUMMARY: Record = {"type": "compaction", "content": "sum"}
FAILED: Record = {"type": "compaction", "content": None}


def user(*blocks: Any) -> Record:
    return {"role": "user", "content": list(blocks) if len(blocks) != 1 or isinstance(blocks[0], dict) else blocks[0]}


def said(*blocks: Any) -> Record:
    return {"role": "assistant", "content": [text(block) if isinstance(block, str) else block for block in blocks]}


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def use(tool_id: str, name: str = "look") -> Record:
    return {"type": "tool_use", "id": tool_id, "name": name, "input": {}}


def result(tool_id: str, words: str) -> Record:
    return {"type": "tool_result", "tool_use_id": tool_id, "content": words}


def response(answer: Record, prompt: int = 100, **fields: Any) -> Record:
    usage = {"input_tokens": prompt, "output_tokens": 5, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    return {"id": f"msg_{prompt}", "type": "message", "model": "claude-x", "usage": usage, "stop_reason": "end_turn", **answer, **fields}


def log(messages: list[Record], answer: Record, prompt: int = 100, *, management: Record | None = None, **request: Any) -> Record:
    applied = {"context_management": {"applied_edits": [management]}} if management else {}
    return {"request": {"messages": messages, **request}, "response": response(answer, prompt, **applied)}


def lane(*records: Any) -> LaneReading:
    return read(IMPORTER, jsonl(records)).only


def test_the_samples_give_the_stated_counts_and_every_record_is_ok() -> None:
    request = read(IMPORTER, SAMPLES / "anthropic_messages.json")
    assert dict(request.verdicts) == {"ok": 1}
    assert (sum(message.records for message in request.only.messages), len(request.only.calls), len(request.only.listed)) == (4, 2, 1)
    answer = read(IMPORTER, SAMPLES / "anthropic_response.json")
    assert dict(answer.verdicts) == {"ok": 1}
    assert (sum(message.records for message in answer.only.messages), len(answer.only.calls)) == (1, 1)
    assert [(one.compaction.mechanism, one.compaction.tokens_before, one.compaction.tokens_after) for one in answer.only.listed] == [
        ("clear_tool_result", None, None),
        ("clear_thinking", None, None),
        ("summary", None, 23_000),
    ]
    assert answer.only.calls[0].usage.prompt_tokens == 23_000


def test_system_prompt_and_tools_stand_in_front_and_are_no_entries_of_the_list() -> None:
    request = {"system": [text("rules")], "tools": [{"name": "look"}], "messages": [user("a"), said("b")]}
    reading = read(IMPORTER, json.dumps(request).encode()).only
    assert reading.view(1) == ["rules", '[{"name":"look"}]', "a"]
    assert sum(message.records for message in reading.messages) == 2


@pytest.mark.parametrize("layout", ["lines", "array", "document"])
def test_a_list_is_one_session_however_it_is_laid_out(layout: str) -> None:
    messages = [user("a"), said(use("t")), user(result("t", "r")), said("b")]
    sources = {"lines": jsonl(messages), "array": json.dumps(messages).encode(), "document": json.dumps({"messages": messages}).encode()}
    reading = read(IMPORTER, sources[layout]).only
    assert (len(reading.messages), [message.line for message in reading.messages]) == (4, [1, 2, 3, 4])
    assert (reading.view(2), reading.messages[2].origin) == (["a", "{}", "r"], "tool")


def test_a_log_of_growing_requests_is_stored_once() -> None:
    first = [user("a")]
    second = [*first, said(use("t")), user(result("t", "r"))]
    reading = lane(log(first, said(use("t")), 10, system="s"), log(second, said("b"), 30, system="s"))
    assert ([reading.view(n) for n in (1, 2)], reading.listed) == ([["s", "a"], ["s", "a", "{}", "r"]], [])
    assert [call.fidelity for call in reading.calls] == ["exact", "exact"]
    assert sum(message.records for message in reading.messages) == 4


def test_a_compaction_block_stands_for_everything_before_it() -> None:
    first = [user("a"), said("b"), user("c")]
    second = [*first, said(SUMMARY, "d"), user("e")]
    reading = lane(log(first, said(SUMMARY, "d"), 40, system="s"), log(second, said("f"), 50, system="s"))
    assert (reading.view(1), reading.view(2)) == (["s", "sum"], ["s", "sum", "d", "e"])
    (folded,) = reading.listed
    assert (folded.compaction.mechanism, folded.compaction.origin, folded.compaction.tokens_after) == ("summary", "recorded", 40)
    assert {entry.verb for entry in reading.history.ledger} == {"summarise"}
    assert [message.blocks[0].kind for message in reading.messages if message.origin == "summary"] == ["compaction"]


def test_a_client_that_drops_what_was_summarised_changes_nothing() -> None:
    reading = lane(log([user("a"), said("b"), user("c")], said(SUMMARY, "d")), log([said(SUMMARY, "d"), user("e")], said("f"), 50))
    assert (reading.view(2), len(reading.listed)) == (["sum", "d", "e"], 1)


def test_of_two_compaction_blocks_the_last_one_counts() -> None:
    again = {"type": "compaction", "content": "sum 2"}
    reading = read(IMPORTER, json.dumps([user("a"), said(SUMMARY, "b"), user("c"), said(again, "d"), user("e"), said("f")]).encode()).only
    assert reading.view(3) == ["sum 2", "d", "e"]
    assert [one.compaction.line for one in reading.listed] == [2, 4]


def test_a_failed_compaction_is_shown_as_failed_and_removes_nothing() -> None:
    reading = lane(log([user("a")], said(FAILED, "b")), log([user("a"), said(FAILED, "b"), user("c")], said("d"), 50))
    assert [(one.compaction.status, one.edits) for one in reading.listed] == [("failed", 0)]
    assert reading.view(2) == ["a", "b", "c"]


def turns(number: int) -> list[Record]:
    return [entry for n in range(number) for entry in (said(use(f"t{n}", "web" if n == 1 else "look")), user(result(f"t{n}", f"r{n}")))]


def test_cleared_tool_uses_are_reckoned_oldest_first_and_stay_cleared() -> None:
    asked = {"edits": [{"type": "clear_tool_uses_20250919", "keep": {"type": "tool_uses", "value": 1}, "exclude_tools": ["web"]}]}
    cleared = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 2, "cleared_input_tokens": 70}
    first, second = [user("a"), *turns(4)], [user("a"), *turns(4), said("b"), user("c")]
    reading = lane(
        log(first, said("b"), 30, management=cleared, context_management=asked),
        log(second, said("d"), 40, management=cleared, context_management=asked),
    )
    (folded,) = reading.listed
    assert (folded.compaction.mechanism, folded.compaction.trigger, folded.edits) == ("clear_tool_result", "server", 2)
    assert (folded.compaction.tokens_before, folded.compaction.tokens_after) == (100, 30)
    assert reading.states(2)[2:9:2] == ["cleared", "whole", "cleared", "whole"]  # of a, then use and result four times
    assert [call.fidelity for call in reading.calls] == ["approx", "approx"]


def test_inputs_are_cleared_only_where_the_request_asked_for_it() -> None:
    asked = {"edits": [{"type": "clear_tool_uses_20250919", "keep": {"value": 0}, "clear_tool_inputs": True}]}
    cleared = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1}
    reading = lane(log([user("a"), *turns(1)], said("b"), management=cleared, context_management=asked))
    assert reading.states(1) == ["whole", "cleared", "cleared"]


def test_cleared_thinking_leaves_the_view_oldest_first() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "abc"}
    messages = [user("a"), said(thought, "b"), user("c"), said(thought, "d"), user("e")]
    cleared = {"type": "clear_thinking_20251015", "cleared_thinking_turns": 1, "cleared_input_tokens": 9}
    reading = lane(log(messages, said("f"), management=cleared))
    assert (reading.view(1), reading.listed[0].compaction.mechanism) == (["a", "b", "c", "hm", "d", "e"], "clear_thinking")


def test_results_of_the_providers_own_tools_answer_their_calls() -> None:
    blocks = [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
              {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "text", "text": "found"}]}, "b"]  # fmt: skip
    reading = lane(log([user("a"), said(*blocks), user("c")], said("d")))
    assert (reading.count("tool_result"), [finding.code for finding in reading.history.findings]) == (1, [])


def test_a_tool_result_that_the_client_replaced_is_an_inferred_compaction() -> None:
    first = [user("a"), said(use("t")), user(result("t", "long"), text("go"))]
    second = [user("a"), said(use("t")), user(result("t", "[cleared]"), text("go")), said("b"), user("c")]
    reading = lane(log(first, said("b")), log(second, said("d"), 50))
    assert [(one.compaction.origin, one.compaction.mechanism) for one in reading.listed] == [("inferred", "clear_tool_result")]
    assert (reading.view(1)[2], reading.view(2)[2], reading.states(2)[2]) == ("long", "[cleared]", "cleared")


@pytest.mark.parametrize(
    ("record", "score"),
    [
        ({"messages": [user("a"), said(use("t"))]}, 0.95),
        (response(said("a")), 0.95),
        ({"system": "s", "messages": [user("a")]}, 0.8),
        ({"messages": [user("a")]}, 0.0),
        ({"v": 1, "env": {}, "messages": [said(use("t"))]}, 0.0),
        ({"messages": [{**said(use("t")), "ts": 1}]}, 0.0),
        ({"messages": [{"role": "assistant", "content": "", "tool_calls": [{"id": "c"}]}]}, 0.0),
    ],
)
def test_lists_are_recognised_by_what_only_this_api_writes(record: Record, score: float) -> None:
    assert IMPORTER.sniff(head_of(json.dumps(record).encode())) == score


@needs_shared
def test_one_of_two_parallel_calls_without_a_result_is_the_only_finding() -> None:
    reading = read(IMPORTER, SHARED / "cases" / "bugs" / "bugs-15-orphan-tool-call-bdc3.json").only
    assert [finding.detail.split()[-1] for finding in reading.history.findings] == ["tu2"]
    assert (reading.count("tool_use"), reading.count("tool_result"), reading.usage("input_tokens")) == (2, 1, None)


@needs_shared
@pytest.mark.parametrize(
    ("name", "status", "view"),
    [
        ("1547", "ok", ["Be brief.", "Summary: a.txt says hello"]),
        ("d0f5", "failed", ["Be brief.", "Read a.txt", '{"p":"a.txt"}', "hello"]),
    ],
)
def test_the_compaction_cases_read_as_they_must(name: str, status: str, view: list[str]) -> None:
    reading = read(IMPORTER, SHARED / "cases" / "formats" / f"formats-anthropic-compaction-{name}.json").only
    (folded,) = reading.listed
    assert (folded.compaction.status, folded.compaction.tokens_before, folded.compaction.tokens_after) == (status, None, None)
    assert (reading.view(2), sum(message.records for message in reading.messages)) == (view, 5)
