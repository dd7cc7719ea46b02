"""OpenAI messages: lists, requests, responses and logs of them; what each call was sent, and what went between two requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxweb.importers.openai_messages import IMPORTER
from tests.ctxweb.importers.readings import SAMPLES, LaneReading, head_of, jsonl, read
from tests.shared import SHARED, needs_shared

Message = dict[str, Any]

SYSTEM: Message = {"role": "system", "content": "Be brief."}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def said(text: str) -> Message:
    return {"role": "assistant", "content": text}


def use(call_id: str, arguments: str = "{}") -> Message:
    call = {"id": call_id, "type": "function", "function": {"name": "look", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def response(answer: Message, prompt: int = 100, **usage: Any) -> Message:
    figures = {"prompt_tokens": prompt, "completion_tokens": 5, **usage}
    return {"id": f"r{prompt}", "object": "chat.completion", "model": "gpt-x", "choices": [{"message": answer}], "usage": figures}


def exchange(messages: list[Message], answer: Message, prompt: int = 100, **fields: Any) -> Message:
    return {"messages": messages, "response": response(answer, prompt), **fields}


def lane(*records: Any) -> LaneReading:
    return read(IMPORTER, jsonl(records)).only


def test_the_samples_give_the_stated_counts_and_every_record_is_ok() -> None:
    chat = read(IMPORTER, SAMPLES / "openai_chat_messages.json")
    assert dict(chat.verdicts) == {"ok": 1}
    assert (len(chat.only.messages), len(chat.only.calls), chat.only.count("tool_use"), chat.only.count("tool_result")) == (4, 1, 1, 1)
    assert chat.only.view(1) == ["You are helpful", "weather?"]
    compact = read(IMPORTER, SAMPLES / "openai_responses_compact.json")
    assert (dict(compact.verdicts), len(compact.only.messages), len(compact.only.calls)) == ({"ok": 1}, 2, 0)
    assert [(one.compaction.mechanism, one.compaction.origin) for one in compact.only.listed] == [("remote_opaque", "recorded")]


@pytest.mark.parametrize("layout", ["lines", "array", "document"])
def test_a_list_is_one_session_however_it_is_laid_out(layout: str) -> None:
    messages = [SYSTEM, user("a"), use("c"), result("c", "r"), said("b")]
    sources = {"lines": jsonl(messages), "array": json.dumps(messages).encode(), "document": json.dumps({"messages": messages}).encode()}
    reading = read(IMPORTER, sources[layout]).only
    assert (sum(message.records for message in reading.messages), len(reading.calls)) == (5, 2)
    assert [message.line for message in reading.messages] == [1, 2, 3, 4, 5]
    assert reading.view(2) == ["Be brief.", "a", "{}", "r"]
    assert {call.fidelity for call in reading.calls} == {"derived"}


def test_a_log_that_repeats_the_list_stores_it_once_and_shows_each_prompt_exactly() -> None:
    first = [SYSTEM, user("a")]
    second = [*first, use("c"), result("c", "r")]
    reading = lane(exchange(first, use("c"), 10), exchange(second, said("b"), 30), exchange([*second, said("b"), user("d")], said("e"), 50))
    assert sum(message.records for message in reading.messages) == 7
    assert [reading.view(n) for n in (1, 2, 3)] == [
        ["Be brief.", "a"],
        ["Be brief.", "a", "{}", "r"],
        ["Be brief.", "a", "{}", "r", "b", "d"],
    ]
    assert ([call.usage.prompt_tokens for call in reading.calls], reading.listed) == ([10, 30, 50], [])
    assert {call.fidelity for call in reading.calls} == {"exact"}


def test_answers_in_a_request_are_no_calls_where_responses_are_logged() -> None:
    assert len(lane(exchange([user("a"), said("b"), user("c")], said("d"))).calls) == 1


def test_requests_without_responses_imply_a_call_for_each_answer_that_a_later_one_shows() -> None:
    reading = lane({"messages": [user("a")]}, {"messages": [user("a"), said("b"), user("c")]})
    assert [reading.view(call.n) for call in reading.calls] == [["a"]]


def test_a_result_that_was_cleared_between_two_requests_is_an_inferred_compaction() -> None:
    first = [user("a"), use("c"), result("c", "long result")]
    second = [user("a"), use("c"), result("c", "[cleared]"), said("b"), user("d")]
    reading = lane(exchange(first, said("b"), 90), exchange(second, said("e"), 40))
    (folded,) = reading.listed
    assert (folded.compaction.origin, folded.compaction.mechanism, folded.compaction.tokens_before, folded.compaction.tokens_after) == (
        "inferred",
        "clear_tool_result",
        90,
        40,
    )
    assert (reading.view(1)[-1], reading.view(2), reading.states(2)[2]) == (
        "long result",
        ["a", "{}", "[cleared]", "b", "d"],
        "cleared",
    )


@pytest.mark.parametrize(
    ("second", "mechanism", "verbs"),
    [
        ([SYSTEM, said("c"), user("d")], "sliding_window", {"remove"}),
        ([SYSTEM, user("a"), user("d")], "snip_messages", {"remove"}),
        ([SYSTEM, user("Here is a summary of the conversation to date:\n\nx"), said("c"), user("d")], "summary", {"summarise"}),
        ([SYSTEM, user("a"), said("other"), said("c"), user("d")], "unknown", {"replace"}),
    ],
)
def test_what_left_between_two_requests_is_named_by_what_it_looks_like(second: list[Message], mechanism: str, verbs: set[str]) -> None:
    first = [SYSTEM, user("a"), said("b"), user("c2"), said("c"), user("d")]
    reading = lane(exchange(first, said("x")), exchange(second, said("y")))
    assert [one.compaction.mechanism for one in reading.listed] == [mechanism]
    assert {entry.verb for entry in reading.history.ledger} == verbs
    assert reading.view(2) == [message["content"] for message in second]


def test_reasoning_that_no_request_sends_back_was_never_sent() -> None:
    answer = {**said("b"), "reasoning_content": "hm"}
    reading = lane(exchange([user("a")], answer), exchange([user("a"), said("b"), user("c")], said("d")))
    assert (reading.view(2), reading.listed) == (["a", "b", "c"], [])
    assert [message.blocks[0].kind for message in reading.messages if message.records == 0] == ["thinking"]
    kept = lane(exchange([user("a")], answer), exchange([user("a"), answer, user("c")], said("d")))
    assert kept.view(2) == ["a", "hm", "b", "c"]


def test_conversations_that_share_nothing_are_sessions_of_their_own() -> None:
    source = read(IMPORTER, jsonl([exchange([SYSTEM, user("a")], said("b")), exchange([SYSTEM, user("c")], said("d"))]))
    assert [reading.lane.native_id for reading in source.lanes] == ["r100", "r100"]
    assert len({reading.lane.key for reading in source.lanes}) == 2
    named = read(IMPORTER, jsonl([exchange([user("a")], said("b"), session_id="s"), exchange([user("c")], said("d"), session_id="s")]))
    assert named.only.lane.native_id == "s"


def test_interleaved_conversations_stay_apart() -> None:
    records = [exchange([user("a")], said("1")), exchange([user("b")], said("2")), exchange([user("a"), said("1"), user("c")], said("3"))]
    first, second = read(IMPORTER, jsonl(records)).lanes
    assert (first.view(2), len(first.calls), len(second.calls)) == (["a", "1", "c"], 2, 1)
    assert (first.lane.record_numbers, second.lane.record_numbers) == ((1, 3), (2,))


def test_usage_of_both_apis_is_disjoint() -> None:
    chat = lane({"messages": [user("a")], "response": response(said("b"), 100, prompt_tokens_details={"cached_tokens": 60})})
    assert (chat.calls[0].usage.input_tokens, chat.calls[0].usage.cache_read_tokens) == (40, 60)
    odd = lane({"messages": [user("a")], "response": response(said("b"), -1)})
    assert (odd.calls[0].usage.input_tokens, odd.calls[0].flags) == (None, ("odd_prompt_tokens",))
    none = lane({"messages": [user("a")], "response": {"choices": [{"message": said("b")}]}})
    assert none.usage("input_tokens") is None


def test_a_response_alone_is_a_call_whose_prompt_is_not_logged() -> None:
    reading = read(IMPORTER, json.dumps(response(said("b"))).encode()).only
    assert (reading.view(1), reading.calls[0].fidelity) == ([], "approx")


def test_responses_items_and_what_continues_a_response() -> None:
    first = {"id": "r1", "object": "response", "model": "m", "instructions": "rules", "input": "hi",
             "output": [{"type": "reasoning", "summary": [], "encrypted_content": "xx"},
                        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"path\":\"/a\"}"}],
             "usage": {"input_tokens": 10, "output_tokens": 2}}  # fmt: skip
    second = {"id": "r2", "object": "response", "previous_response_id": "r1", "usage": {"input_tokens": 20, "output_tokens": 2},
              "input": [{"type": "function_call_output", "call_id": "c", "output": "r"}],
              "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}]}  # fmt: skip
    reading = lane(first, second)
    assert (reading.view(1), reading.view(2)) == (["rules", "hi"], ["rules", "hi", "", '{"path":"/a"}', "r"])
    assert [call.fidelity for call in reading.calls] == ["exact", "derived"]
    assert reading.messages[3].blocks[0].path == "/a"


def test_a_compaction_item_in_a_request_takes_what_it_stands_for() -> None:
    first = [{"type": "message", "role": "user", "content": "a"}]
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]}
    item = {"type": "compaction", "id": "cmp", "encrypted_content": "secret"}

    def logged(given: list[Message], number: int) -> Message:
        return {"request": {"input": given}, "response": {"id": f"r{number}", "object": "response", "output": [answer]}}

    reading = lane(logged(first, 1), logged([*first, answer, {"role": "user", "content": "c"}], 2), logged([*first, item], 3))
    assert (reading.view(3), reading.listed[0].compaction.mechanism) == (["a", "[encrypted compaction, 6 characters]"], "remote_opaque")
    assert reading.calls[2].fidelity == "opaque"


def test_marks_in_a_bare_list_are_states_and_origins() -> None:
    records = [user("[Compacted]\n\nwork so far"), use("c"), result("c", "[Earlier tool result compacted. Re-run if needed.]")]
    summary, _, cleared = lane(*records).messages
    assert (summary.origin, cleared.blocks[0].state) == ("summary", "cleared")


def test_records_that_are_none_of_it_are_counted() -> None:
    source = read(IMPORTER, jsonl([user("a"), {"type": "novel"}, 3, said("b")]))
    assert dict(source.verdicts) == {"ok": 2, "unknown_type": 2}


def test_a_list_keeps_its_key_while_it_grows() -> None:
    messages = [SYSTEM, user("a"), said("b"), user("c"), said("d")]
    assert lane(*messages[:3]).lane.key == lane(*messages).lane.key != lane(SYSTEM, user("a"), said("other")).lane.key


@pytest.mark.parametrize(
    ("record", "score"),
    [
        ({"model": "m", "messages": [user("a"), use("c")]}, 0.9),
        ({"messages": [SYSTEM, user("a")]}, 0.7),
        ({"messages": [user("a"), said("b")]}, 0.55),
        ({"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]}]}, 0.0),
        ({"messages": [{**user("a"), "ts": 1}]}, 0.0),
        ({"info": {}, "messages": [user("a")]}, 0.0),
        ({"hello": "world"}, 0.0),
    ],
)
def test_lists_are_recognised_by_what_only_these_apis_write(record: Message, score: float) -> None:
    assert IMPORTER.sniff(head_of(json.dumps(record).encode())) == score


@needs_shared
def test_a_call_of_the_shared_log_has_the_figures_of_its_provider() -> None:
    (path,) = (SHARED / "corpus" / "openai_messages").iterdir()
    reading = read(IMPORTER, path).only
    assert (len(reading.calls), reading.count("tool_use"), reading.count("tool_result")) == (1, 6, 5)
    assert (reading.usage("input_tokens"), reading.usage("cache_read_tokens"), reading.usage("output_tokens")) == (6729, 0, 199)


@needs_shared
@pytest.mark.parametrize("path", sorted((SHARED / "cases" / "prompt").glob("*.json")), ids=lambda path: path.stem)
def test_planted_instructions_are_text_like_any_other(path: Path) -> None:
    if IMPORTER.sniff(head_of(path)) < 0.5:
        pytest.skip("another format")
    reading = read(IMPORTER, path).only
    assert (len(reading.messages), reading.count("tool_use"), reading.count("tool_result")) == (5, 1, 1)
    canary = next(text for text in reading.view(2) if "CANARY-" in text)
    assert canary.endswith("Run the check.")


@needs_shared
def test_hostile_ids_and_pictures_are_kept_as_text() -> None:
    reading = read(IMPORTER, SHARED / "cases" / "render" / "render-other-formats-9ff0.json").only
    assert (len(reading.messages), reading.count("image")) == (4, 1)
    (image,) = [block for message in reading.messages for block in message.blocks if block.kind == "image"]
    assert "bad.invalid" in reading.text(image.body)
