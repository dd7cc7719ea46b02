"""Claude Code records: verdicts, contents, usage, and which lane each belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from compaction.transcript import Lane
from ctxweb.importers.claude_code import IMPORTER
from tests.ctxweb.importers.claude_code_records import SESSION, Record, answer, boundary, record, result, summary, text, turn, use, user
from tests.ctxweb.importers.readings import SAMPLES, LaneReading, SourceReading, head_of, jsonl, read

pytestmark = pytest.mark.nodb

OTHER = "07be5000-0000-4000-8000-000000000000"


def source(*records: Record | list[Record]) -> SourceReading:
    return read(IMPORTER, jsonl(one for item in records for one in (item if isinstance(item, list) else [item])))


def kinds(folded: LaneReading) -> list[tuple[str, str]]:
    return [(block.kind, folded.text(block.body)) for message in folded.messages for block in message.blocks]


def lanes(reading: SourceReading) -> list[tuple[str, str | None]]:
    return [(folded.lane.kind, folded.lane.native_id) for folded in reading.lanes]


def changed(records: Iterable[Record], **fields: Any) -> list[Record]:
    return [{**one, **fields} for one in records]


def test_the_sample_has_its_known_figures() -> None:
    reading = read(IMPORTER, SAMPLES / "claude_code.jsonl")
    assert reading.verdicts == {"ok": 14}
    folded = reading.only
    assert sum(message.records for message in folded.messages) == 8
    assert [(call.line, call.usage.prompt_tokens, call.usage.output_tokens) for call in folded.calls] == [(3, 153012, 180), (11, 9109, 40)]
    listed = [
        (item.index, item.compaction.mechanism, item.compaction.tokens_before, item.compaction.tokens_after) for item in folded.listed
    ]
    assert listed == [(1, "summary", 155025, 9000), (2, "clear_tool_result", 60000, 39000)]
    assert folded.lane.title == "Debug login failure"


def test_the_subagent_sample_is_a_lane_that_hangs_on_its_session() -> None:
    folded = read(IMPORTER, SAMPLES / "claude_code_subagent.jsonl").only
    lane = folded.lane
    assert (lane.kind, lane.native_id, lane.parent_native_id) == ("subagent", "ag1", "11111111-1111-4111-8111-111111111111")
    assert (len(folded.calls), sum(message.records for message in folded.messages)) == (1, 2)


@pytest.mark.parametrize(
    ("first", "score"),
    [
        (user("u", None, "go"), 1.0),
        ({"type": "assistant", "session_id": SESSION, "uuid": "a", "message": {"id": "m", "content": []}}, 0.9),
        ({"type": "summary", "summary": "a title", "leafUuid": "x"}, 0.6),
        ({"type": "user", "sessionId": SESSION, "uuid": "u", "parentUuid": None, "message": {"role": "user", "parts": []}}, 0.0),
        ({"type": "user", "sessionId": SESSION, "uuid": "u", "parentUuid": None, "systemPayload": {}, "message": {}}, 0.0),
        ({"type": "session", "id": SESSION, "cwd": "/p"}, 0.0),
        ({"type": "message", "message": {"role": "user", "content": "go"}}, 0.0),
        ([1], 0.0),
    ],
)
def test_a_transcript_is_recognised_by_its_records(first: Any, score: float) -> None:
    assert IMPORTER.sniff(head_of(jsonl([first, {}]))) == score


def test_inner_blocks_do_not_look_like_records() -> None:
    inner = [{"type": "text", "text": "x"}, {"type": "user"}, {"type": "tool_use", "id": "t"}, {"role": "user"}, "user", None]
    assert not any(map(IMPORTER.looks_like_record, inner))
    assert IMPORTER.looks_like_record(user("u", None, "go"))
    assert IMPORTER.looks_like_record({"type": "file-history-snapshot", "messageId": "x"})


def test_unknown_types_and_values_that_are_no_records_are_named() -> None:
    reading = source(turn("1", None, "one"), {"type": "next-gen", "uuid": "n"}, {"no": "type"}, [[1, 2]])  # type: ignore[list-item]
    assert reading.verdicts == {"ok": 2, "unknown_type": 3}


def test_a_copy_of_a_record_is_a_duplicate_and_counts_nothing() -> None:
    again = changed(turn("1", None, "one"), parentUuid="elsewhere", timestamp="2026-03-03T00:00:00Z", version="9")
    reading = source(turn("1", None, "one"), again)
    assert reading.verdicts == {"ok": 2, "duplicate": 2}
    assert len(reading.only.messages) == 2


def test_a_used_id_with_another_content_is_no_copy_and_parents_mean_the_first() -> None:
    reading = source(user("u", None, "one"), user("u", None, "two"), answer("a", "u", "m1", text("ok")))
    assert reading.verdicts == {"ok": 3}
    assert reading.flags["id_used_before"] == 1
    assert reading.only.view(1) == ["one"]


def test_usage_is_that_of_the_last_line_and_the_time_that_of_the_first() -> None:
    counts = {"input_tokens": 6, "cache_creation_input_tokens": 70, "cache_read_input_tokens": 900, "output_tokens": 3}
    later = {"timestamp": "2026-03-02T09:00:30.000Z", "usage": {**counts, "output_tokens": 410}}
    folded = source(
        user("u", None, "go"), answer("a1", "u", "m1", text("x"), usage=counts), answer("a2", "a1", "m1", use("t"), **later)
    ).only
    (call,) = folded.calls
    assert (call.usage.prompt_tokens, call.usage.output_tokens, call.at) == (976, 410, 1772442007000)


def test_calls_without_message_id_are_grouped_by_request_and_an_empty_request_id_names_none() -> None:
    lines = [answer("a1", "u", "m1", text("x")), answer("a2", "a1", "m1", text("y")), answer("a3", "a2", "m2", text("z"))]
    for line in lines:
        del line["message"]["id"]
    lines[2]["requestId"] = ""
    assert [call.native_id for call in source(user("u", None, "go"), lines).only.calls] == ["req_m1", "a3"]


def test_synthetic_answers_and_api_errors_are_no_model_calls() -> None:
    folded = source(
        turn("1", None, "one"),
        answer("s", "a-1", "x1", text("No response requested."), model="<synthetic>"),
        answer("e", "s", "x2", text("API Error: 500"), isApiErrorMessage=True),
    ).only
    assert len(folded.calls) == 1
    assert [message.label for message in folded.messages] == [None, None, "no model call", "no model call"]


@pytest.mark.parametrize("odd", ["12", 1.5, -1, True, {}, 2**53 + 1])
def test_a_figure_that_is_no_count_is_unknown_and_flagged(odd: Any) -> None:
    reading = source(user("u", None, "go"), answer("a", "u", "m1", text("x"), usage={"input_tokens": odd, "output_tokens": 7}))
    (call,) = reading.only.calls
    assert (call.usage.input_tokens, call.usage.prompt_tokens, call.usage.output_tokens) == (None, None, 7)
    assert call.flags == ("odd_input_tokens",)
    assert reading.flags["odd_input_tokens"] == 1


def test_usage_of_nothing_but_zeros_is_unknown() -> None:
    (call,) = source(user("u", None, "go"), answer("a", "u", "m1", text("x"), usage={"input_tokens": 0, "output_tokens": 0})).only.calls
    assert (call.usage.input_tokens, call.usage.output_tokens, call.flags) == (None, None, ("usage_all_zero",))


def test_the_prompt_of_an_answer_in_iterations_is_that_of_the_last_message() -> None:
    steps = [{"type": "compaction", "input_tokens": 900}, {"type": "message", "input_tokens": 20, "cache_read_input_tokens": 5}]
    usage = {"input_tokens": 999, "output_tokens": 7, "iterations": [*steps, {"type": "compaction", "input_tokens": 1}]}
    (call,) = source(user("u", None, "go"), answer("a", "u", "m1", text("x"), usage=usage)).only.calls
    assert (call.usage.prompt_tokens, call.usage.output_tokens) == (25, 7)


@pytest.mark.parametrize(
    ("written", "seconds"), [({}, None), ({"ephemeral_5m_input_tokens": 9}, 300), ({"ephemeral_1h_input_tokens": 9}, 3600)]
)
def test_the_life_of_the_cache_is_that_of_what_the_call_wrote(written: Record, seconds: int | None) -> None:
    usage = {"input_tokens": 1, "output_tokens": 7, "cache_creation_input_tokens": 9 if written else 0, "cache_creation": written}
    (call,) = source(user("u", None, "go"), answer("a", "u", "m1", text("x"), usage=usage)).only.calls
    assert call.usage.cache_ttl_seconds == seconds


def test_an_output_figure_too_small_for_its_answer_is_unreliable_unless_the_answer_was_finished() -> None:
    long, first_chunk = text("words " * 100), {"input_tokens": 100, "output_tokens": 3}
    for stop_reason, is_reliable in ((None, False), ("end_turn", True)):
        lines = answer("a", "u", "m1", long, usage=first_chunk, stop_reason=stop_reason)
        assert source(user("u", None, "go"), lines).only.calls[0].output_reliable is is_reliable


def test_contents_of_any_shape_have_a_row_and_keep_their_calls() -> None:
    odd: list[Any] = ["plain", ["one", "two"], [None], [], {"type": "text", "text": "an object"}, 42, None]
    uses = [use(f"t{i}") for i in range(len(odd))]
    results = [result(f"r{i}", "a", f"t{i}", content) for i, content in enumerate(odd)]
    users = [user(f"v{i}", "a", content) for i, content in enumerate(odd)]
    folded = source(user("u", None, "go"), answer("a", "u", "m1", *uses), results, users).only
    assert [message.line for message in folded.messages] == list(range(1, 3 + 2 * len(odd)))
    texts = [folded.text(message.blocks[0].body) for message in folded.messages[2 : 2 + len(odd)]]
    assert texts == ["plain", "one\ntwo", "", "", '{"type":"text","text":"an object"}', "42", ""]
    flags = [message.flags + tuple(flag for block in message.blocks for flag in block.flags) for message in folded.messages[2 + len(odd) :]]
    assert flags == [(), (), ("content_null",), ("content_empty",), ("content_not_text",), ("content_not_text",), ("content_null",)]


def test_pictures_are_labels_with_a_size_and_are_counted_inside_results_too() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 100}}
    folded = source(
        user("u", None, [text("look"), picture]), answer("a", "u", "m1", use("t")), result("r", "a", "t", [picture, text("seen")])
    ).only
    shown, inside = folded.messages[0].blocks[1], folded.messages[2].blocks[0]
    assert (shown.kind, shown.media_type, shown.media_bytes) == ("image", "image/png", 300)
    assert (inside.kind, inside.flags, inside.media_bytes) == ("tool_result", ("images:1",), 300)
    assert not any("QUJD" in body for body in folded.bodies.values())
    assert folded.text(inside.body).endswith("\nseen")


def test_blocks_of_every_kind_are_read() -> None:
    blocks: list[Record] = [
        {"type": "thinking", "thinking": "hm", "signature": "s" * 40},
        {"type": "redacted_thinking", "data": "d" * 9},
        {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []},
        {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "/p/a.py"}},
    ]
    folded = source(
        user("u", None, [{"type": "document", "source": {"type": "text", "data": "paper"}}]), answer("a", "u", "m1", *blocks)
    ).only
    assert [kind for kind, _ in kinds(folded)] == ["document", "thinking", "thinking", "tool_use", "opaque", "tool_use"]
    thinking, read_call = folded.messages[1].blocks[0], folded.messages[1].blocks[-1]
    assert (thinking.signature_chars, read_call.path, read_call.tool_name) == (40, "/p/a.py", "Read")


def test_texts_with_nul_and_lone_surrogates_are_mended_visibly() -> None:
    raw = jsonl([user("u", None, "a\x00b\ud800c")])
    assert kinds(read(IMPORTER, raw).only) == [("text", "a␀b�c")]


def test_records_of_the_harness_are_rows_that_no_prompt_holds() -> None:
    folded = source(
        turn("1", None, "one"),
        record("system", "s", "a-1", subtype="stop_hook_summary", hookCount=1),
        record("attachment", "t", "s", attachment={"type": "hook_success", "content": "ok"}),
        record("progress", "p", "t", data={"type": "bash_progress", "output": "…"}),
        turn("2", "p", "two"),
    ).only
    rows = [(message.role, message.origin, message.label, message.visible, message.records) for message in folded.messages[2:4]]
    assert rows == [("system", "hook", "stop_hook_summary", "no", 0), ("system", "hook", "hook_success", "unknown", 0)]
    assert folded.view(2) == ["one", "answer to one", "two"]


def test_an_unreadable_time_is_unknown() -> None:
    folded = source(user("u", None, "go", timestamp=-1), user("v", "u", "on", timestamp="9999-12-31T00:00:00Z")).only
    assert [message.at for message in folded.messages] == [None, None]
    assert folded.messages[0].flags == ("odd_time",)


def test_origins_tell_people_from_tools_and_harness() -> None:
    folded = source(user("u", None, "go"), answer("a", "u", "m", use("t")), result("r", "a", "t"), user("x", "r", "note", isMeta=True)).only
    assert [message.origin for message in folded.messages] == ["human", "model", "tool", "harness"]


def test_session_ids_that_parents_join_are_one_lane() -> None:
    reading = source(
        user("u", None, "go", sessionId=OTHER), answer("a", "u", "m1", text("x")), user("v", "a", "on"), user("w", "v", "more")
    )
    assert lanes(reading) == [("main", SESSION)]


def test_session_ids_that_a_compaction_joins_are_one_lane() -> None:
    later = changed([boundary("b", "a-1"), summary("s", "b"), *turn("2", "s", "two")], sessionId=OTHER)
    assert len(source(turn("1", None, "one"), later).lanes) == 1


def test_session_ids_that_nothing_joins_are_sessions_of_their_own() -> None:
    mixed = [one for pair in zip(turn("1", None, "one"), changed(turn("2", None, "two"), sessionId=OTHER), strict=True) for one in pair]
    reading = source(mixed, {"type": "ai-title", "aiTitle": "the other", "sessionId": OTHER})
    assert lanes(reading) == [("main", SESSION), ("main", OTHER)]
    assert [folded.lane.record_numbers for folded in reading.lanes] == [(1, 3), (2, 4, 5)]
    assert [folded.lane.title for folded in reading.lanes] == [None, "the other"]


def sidechain(prompt: str = "count callers", **fields: Any) -> list[Record]:
    return [
        user("x1", None, prompt, isSidechain=True, **fields),
        answer("x2", "x1", "m-sub", text("3"), isSidechain=True, usage={"input_tokens": 5000, "output_tokens": 2}, **fields),
    ]


def test_a_sidechain_is_a_lane_of_its_own_that_hangs_on_the_call_with_its_prompt() -> None:
    task = answer("a", "u", "m1", use("task", "Task", prompt="count callers", subagent_type="x"))
    reading = source(user("u", None, "go"), task, sidechain(), result("r", "a", "task"), answer("b", "r", "m2", text("done")))
    main, sub = reading.lanes
    assert lanes(reading) == [("main", SESSION), ("subagent", "x1")]
    assert (sub.lane.parent_key, sub.lane.parent_tool_id) == (main.lane.key, "task")
    assert (len(main.calls), len(sub.calls), main.usage("input_tokens")) == (2, 1, 200)
    assert (sub.lane.record_numbers, main.lane.record_numbers) == ((3, 4), (1, 2, 5, 6))
    assert sub.messages[0].origin == "model"


def test_a_sidechain_with_an_agent_id_hangs_on_the_call_whose_result_names_it() -> None:
    answered = result("r", "a", "task", "3", toolUseResult={"agentId": "ag71"})
    reading = source(user("u", None, "go"), answer("a", "u", "m1", use("task", "Task")), sidechain(agentId="ag71"), answered)
    assert [(folded.lane.native_id, folded.lane.parent_tool_id) for folded in reading.lanes[1:]] == [("ag71", "task")]
    assert reading.lanes[0].messages[2].blocks[0].flags == ("agent:ag71",)


def test_calls_that_a_sidechain_replays_count_in_the_main_lane_only() -> None:
    replay = changed(turn("1", None, "one"), isSidechain=True, agentId="ag", uuid="copy")
    replay[1]["uuid"] = "copy2"
    reading = source(turn("1", None, "one"), replay, sidechain(agentId="ag"))
    main, sub = reading.lanes
    assert [call.native_id for call in main.calls] == ["m-1"]
    assert [call.native_id for call in sub.calls] == ["m-sub"]
    assert [message.inherited for message in sub.messages] == [True, True, False, False]


def test_a_fork_says_what_it_was_copied_from_and_counts_its_own_calls_only() -> None:
    copied = changed(turn("1", None, "one"), forkedFrom={"sessionId": OTHER, "messageUuid": "x"})
    folded = source(copied, turn("2", "a-1", "two")).only
    assert (folded.lane.kind, folded.lane.parent_native_id, folded.lane.continues) == ("fork", OTHER, OTHER)
    assert [message.inherited for message in folded.messages] == [True, True, False, False]
    assert [call.native_id for call in folded.calls] == ["m-2"]


def test_a_copy_in_the_same_file_counts_once() -> None:
    copy = changed(turn("1", None, "one"), sessionId=OTHER)
    copy[0]["uuid"], copy[1]["uuid"], copy[1]["parentUuid"] = "c1", "c2", "c1"
    reading = source(turn("1", None, "one"), copy, changed(turn("2", "c2", "two"), sessionId=OTHER))
    assert lanes(reading) == [("main", SESSION), ("fork", OTHER)]
    assert [[call.native_id for call in folded.calls] for folded in reading.lanes] == [["m-1"], ["m-2"]]


def test_records_as_the_sdk_streams_them_are_read_in_the_order_of_the_file() -> None:
    def streamed(one: Record, **fields: Any) -> Record:
        kept = {name: value for name, value in one.items() if name not in ("parentUuid", "sessionId", "requestId")}
        return {**kept, "session_id": SESSION, "parent_tool_use_id": None, **fields}

    main = [streamed(one) for one in (user("u", None, "go"), answer("a", None, "m1", use("task", "Task")), result("r", None, "task"))]
    sub = [streamed(one, parent_tool_use_id="task") for one in turn("s", None, "count")]
    reading = source({"type": "system", "subtype": "init", "session_id": SESSION, "uuid": "i"}, main[:2], sub, main[2], {"type": "result"})
    assert reading.verdicts == {"ok": 7}
    assert [(folded.lane.kind, folded.lane.parent_tool_id) for folded in reading.lanes] == [("main", None), ("subagent", "task")]
    assert reading.lanes[0].view(1) == ["go"]


def test_titles_are_those_a_person_gave_then_generated_ones_then_summaries_of_this_session() -> None:
    told = [
        {"type": "summary", "summary": "of another session", "leafUuid": "lost"},
        {"type": "summary", "summary": "of this one", "leafUuid": "a-1"},
        {"type": "ai-title", "aiTitle": "generated", "sessionId": SESSION},
        {"type": "custom-title", "customTitle": "given", "sessionId": SESSION},
    ]
    titles = [source(told[:count], turn("1", None, "one")).only.lane.title for count in range(5)]
    assert titles == [None, None, "of this one", "generated", "given"]


def test_a_source_of_side_records_only_is_an_empty_lane() -> None:
    reading = source(
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}}, {"type": "summary", "summary": "t", "leafUuid": "y"}
    )
    assert (reading.only.lane.key, reading.only.lane.native_id, reading.only.messages) == ("x", None, ())


def test_the_key_of_a_lane_stays_when_the_file_grows() -> None:
    records = [*turn("1", None, "one"), *sidechain(agentId="ag"), *turn("2", "a-1", "two")]
    for count in range(3, len(records) + 1):
        keys = [folded.lane.key for folded in source(records[:count]).lanes]
        assert keys == [SESSION, f"{SESSION}/ag"]


def test_facts_of_a_lane_come_from_its_records() -> None:
    lane: Lane = source(turn("1", None, "one", cwd="/p/app", gitBranch="main")).only.lane
    assert (lane.cwd, lane.git_branch, lane.producer_version, lane.model) == ("/p/app", "main", "2.1.40", "claude-opus-4-5")
