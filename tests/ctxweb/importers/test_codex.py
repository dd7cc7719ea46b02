"""Codex rollouts: what a call saw, what each generation of `compacted` made of it, and what the counts say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctxweb.importers.codex import IMPORTER
from tests.ctxweb.importers.readings import SAMPLES, LaneReading, head_of, jsonl, read
from tests.shared import SHARED, needs_shared

CASES = SHARED / "cases"

Line = dict[str, Any]


def line(kind: str, payload: Line, **fields: Any) -> Line:
    return {"timestamp": "2026-08-01T10:00:00.000Z", "type": kind, "payload": payload, **fields}


META = line("session_meta", {"id": "thread-1", "cwd": "/w", "cli_version": "0.163.0", "base_instructions": {"text": "You are Codex"}})
STARTED = line("event_msg", {"type": "task_started", "model_context_window": 1000})
ENDED = line("event_msg", {"type": "task_complete"})


def user(text: str, **fields: Any) -> Line:
    return line("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}], **fields})


def said(text: str) -> Line:
    return line("response_item", {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})


def use(call_id: str, arguments: str = "{}") -> Line:
    return line("response_item", {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": call_id})


def result(call_id: str, output: Any) -> Line:
    return line("response_item", {"type": "function_call_output", "call_id": call_id, "output": output})


def count(total: int, last: int, cached: int = 0, output: int = 1) -> Line:
    figures = {"cached_input_tokens": cached, "output_tokens": output}
    info = {
        "total_token_usage": {"input_tokens": total, "total_tokens": total + output},
        "last_token_usage": {"input_tokens": last, **figures, "total_tokens": last + output},
    }
    return line("event_msg", {"type": "token_count", "info": info})


def compacted(**payload: Any) -> Line:
    return line("compacted", payload)


def item(text: str, role: str = "user") -> Line:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def lane(*lines: Line) -> LaneReading:
    return read(IMPORTER, jsonl(lines)).only


def test_the_sample_has_two_calls_and_two_compactions_and_every_record_is_ok() -> None:
    source = read(IMPORTER, SAMPLES / "codex_rollout.jsonl")
    sample = source.only
    assert dict(source.verdicts) == {"ok": 16}
    assert (len(sample.messages), len(sample.calls), sample.count("tool_use"), sample.count("tool_result")) == (9, 2, 1, 1)
    assert [(one.compaction.line, one.compaction.mechanism, one.compaction.tokens_after) for one in sample.listed] == [
        (11, "summary", 700),
        (12, "remote_opaque", 700),
    ]
    assert sample.view(1) == ["You are Codex", "<permissions>...", "Fix the flaky test"]
    assert sample.view(2) == ["You are Codex", "Fix the flaky test", "[encrypted compaction, 12 characters]"]


def test_a_call_sees_what_stood_before_its_first_output() -> None:
    reading = lane(META, user("a"), said("b"), use("c"), count(10, 10), result("c", "d"), said("e"), count(25, 15))
    assert reading.view(1) == ["You are Codex", "a"]
    assert reading.view(2) == ["You are Codex", "a", "b", "{}", "d"]
    assert [message.call for message in reading.messages] == [None, None, 1, 1, None, 2]


def test_the_instructions_of_the_head_are_a_system_message() -> None:
    first = lane(META, user("a")).messages[0]
    assert (first.role, first.origin, first.line) == ("system", "harness", 1)


def test_events_of_the_user_interface_are_no_second_copies() -> None:
    twins = [line("event_msg", {"type": "user_message", "message": "a"}), line("event_msg", {"type": "agent_message", "message": "b"})]
    assert len(lane(META, user("a"), twins[0], said("b"), twins[1]).messages) == 3


def test_a_repeated_count_a_count_without_info_and_one_without_output_close_no_call() -> None:
    refresh = line("event_msg", {"type": "token_count", "info": None})
    reading = lane(META, user("a"), refresh, said("b"), count(10, 10), count(10, 10), count(30, 20))
    assert len(reading.calls) == 1
    assert [finding.code for finding in reading.history.findings if "count" in finding.code] == ["count_without_output"]


def test_a_count_larger_than_the_window_is_flagged_as_impossible() -> None:
    reading = lane(META, STARTED, user("a"), said("b"), count(10, 10), count(5010, 5000))
    (finding,) = [finding for finding in reading.history.findings if finding.code == "impossible_count"]
    assert (finding.line, "5,000 of a window of 1,000" in finding.detail) == (6, True)
    flagged = lane(META, STARTED, user("a"), said("b"), count(5000, 5000))
    assert flagged.calls[0].flags == ("above_window",)


def test_usage_is_disjoint_and_a_cache_above_the_input_is_flagged() -> None:
    reading = lane(META, user("a"), said("b"), count(100, 100, cached=90), said("c"), count(150, 50, cached=80))
    first, second = (call.usage for call in reading.calls)
    assert (first.input_tokens, first.cache_read_tokens, first.prompt_tokens, first.cache_write_tokens) == (10, 90, 100, None)
    assert (second.prompt_tokens, reading.calls[1].flags) == (50, ("cached_above_input",))


def test_figures_that_are_no_counts_are_unknown() -> None:
    odd = line("event_msg", {"type": "token_count", "info": {"total_token_usage": {"input_tokens": 1, "total_tokens": 2},
                                                              "last_token_usage": {"input_tokens": -5, "output_tokens": "7"}}})  # fmt: skip
    (call,) = lane(META, user("a"), said("b"), odd).calls
    assert (call.usage.input_tokens, call.usage.output_tokens) == (1, None)


def test_a_local_compaction_keeps_context_and_people_and_ends_with_the_summary() -> None:
    context = user("<environment_context>cwd</environment_context>")
    reading = lane(META, context, user("ask"), use("c"), result("c", "out"), said("x"), count(9, 9), compacted(message="sum"), user("go"),
                   said("y"), count(12, 3))  # fmt: skip
    assert reading.view(2) == ["You are Codex", "<environment_context>cwd</environment_context>", "ask", "sum", "go"]
    (folded,) = reading.listed
    assert (folded.compaction.mechanism, folded.compaction.tokens_before, folded.compaction.tokens_after) == ("summary", 10, 3)
    assert folded.estimate_before - folded.removed + folded.added == folded.estimate_after
    assert reading.messages[-3].origin == "summary"
    assert {entry.verb for entry in reading.history.ledger} == {"summarise"}
    assert reading.calls[1].fidelity == "derived"


def test_a_local_compaction_keeps_20000_tokens_of_people_and_cuts_the_one_that_overflows() -> None:
    old, long, new = "o" * 40, "l" * 90_000, "n" * 40_000
    reading = lane(META, user(old), user(long), user(new), said("x"), count(9, 9), compacted(message="sum"), said("y"), count(12, 3))
    instructions, cut, newest, summary = reading.view(2)
    assert (instructions, newest, summary) == ("You are Codex", new, "sum")
    assert cut.startswith("l" * 20_000 + "…12500 tokens truncated…")  # 90,000 bytes against 10,000 tokens of 4
    assert cut.endswith("…" + "l" * 20_000)
    assert reading.states(2) == ["whole", "truncated", "whole", "whole"]
    assert [entry.verb for entry in reading.history.ledger if entry.block == (2, 1)] == ["summarise"]


def test_a_replacement_history_is_exactly_the_next_prompt() -> None:
    history = [item("rules", "developer"), item("ask"), {"type": "compaction", "encrypted_content": "secret"}]
    reading = lane(META, user("ask"), use("c"), count(9, 9), result("c", "out"), compacted(message="", replacement_history=history),
                   said("y"), count(12, 3))  # fmt: skip
    assert reading.view(2) == ["You are Codex", "rules", "ask", "[encrypted compaction, 6 characters]"]
    (folded,) = reading.listed
    assert folded.compaction.mechanism == "remote_opaque"
    assert [message.records for message in reading.messages if message.line == 6] == [0, 0]
    assert reading.calls[1].fidelity == "opaque"


@pytest.mark.parametrize(("message", "mechanism"), [("", "checkpoint_replace"), ("sum", "summary")])
def test_a_readable_replacement_history_is_exact(message: str, mechanism: str) -> None:
    history = [item("ask"), item("sum")]
    reading = lane(
        META, user("ask"), said("x"), count(9, 9), compacted(message=message, replacement_history=history), said("y"), count(12, 3)
    )
    assert reading.view(2) == ["You are Codex", "ask", "sum"]
    assert (reading.listed[0].compaction.mechanism, reading.calls[1].fidelity) == (mechanism, "exact")


def test_references_of_a_replacement_history_find_the_logged_items() -> None:
    entries = [
        {"type": "reference", "item_id": "m1"},
        {"type": "reference_v2", "item_id": "nowhere", "source_digest": "x"},
        {"type": "inline", "item": item("new")},
    ]
    reading = lane(META, user("ask", id="m1"), said("x"), count(9, 9), compacted(message="", replacement_history_entries=entries),
                   said("y"), count(12, 3))  # fmt: skip
    assert reading.view(2) == ["You are Codex", "ask", "new"]
    assert [(finding.code, finding.detail) for finding in reading.history.findings if "reference" in finding.code] == [
        ("missing_reference", "nowhere")
    ]


def test_a_compaction_item_that_was_logged_first_enters_with_its_record() -> None:
    logged = line("response_item", {"type": "compaction", "id": "cmp", "encrypted_content": "secret"})
    history = [item("ask"), logged["payload"]]
    reading = lane(META, user("ask"), said("x"), count(9, 9), logged, compacted(message="", replacement_history=history), said("y"),
                   count(12, 3))  # fmt: skip
    assert reading.view(2) == ["You are Codex", "ask", "[encrypted compaction, 6 characters]"]
    assert len(reading.messages) == 5


def test_an_empty_replacement_history_leaves_the_instructions_only() -> None:
    reading = lane(META, user("ask"), said("x"), count(9, 9), compacted(message="", replacement_history=[]), said("y"), count(12, 3))
    assert reading.view(2) == ["You are Codex"]


def test_a_record_with_the_history_of_the_guardian_only_is_no_compaction() -> None:
    reading = lane(META, user("ask"), said("x"), count(9, 9), compacted(message="", guardian_history=[item("g")]), said("y"), count(12, 3))
    assert (reading.listed, reading.view(2)) == ([], ["You are Codex", "ask", "x"])


def test_a_replacement_history_may_change_the_order() -> None:
    history = [item("new"), item("b"), item("a")]
    reading = lane(META, user("a"), user("b"), said("x"), count(9, 9), compacted(message="", replacement_history=history), said("y"),
                   count(12, 3))  # fmt: skip
    assert reading.view(2) == ["You are Codex", "new", "b", "a"]


@pytest.mark.parametrize(
    ("before", "after", "trigger"),
    [
        ([STARTED], [ENDED], "manual"),
        ([STARTED], [user("go on")], "auto"),
        ([STARTED, user("more")], [ENDED], "auto"),
        ([STARTED, said("x")], [ENDED], "auto"),
        ([], [], "auto"),
    ],
)
def test_a_compaction_that_fills_its_own_turn_was_asked_for(before: list[Line], after: list[Line], trigger: str) -> None:
    reading = lane(META, user("a"), *before, compacted(message="sum"), *after)
    assert reading.listed[0].compaction.trigger == trigger


def test_the_event_that_repeats_a_compaction_is_no_second_one() -> None:
    twin = line("event_msg", {"type": "context_compacted"})
    assert len(lane(META, user("a"), compacted(message="sum"), twin).listed) == 1
    alone = lane(META, user("a"), twin)
    assert (alone.listed, [finding.code for finding in alone.history.findings]) == ([], ["compaction_without_record"])


def test_a_rollback_is_a_users_action_and_its_calls_are_abandoned() -> None:
    back = line("event_msg", {"type": "thread_rolled_back", "num_turns": 1})
    reading = lane(META, user("a"), said("b"), count(9, 9), user("c"), said("d"), count(20, 11), back, user("e"), said("f"), count(30, 10))
    (rewind,) = reading.history.compactions
    assert (rewind.index, rewind.compaction.mechanism) == (None, "rewind")
    assert reading.view(3) == ["You are Codex", "a", "b", "e"]
    assert [(call.abandoned, call.previous) for call in reading.calls] == [(False, None), (True, 1), (False, 1)]


def test_a_tool_output_above_the_policy_is_shown_as_the_model_saw_it() -> None:
    context = line("turn_context", {"model": "gpt-5", "truncation_policy": {"mode": "tokens", "limit": 10}})
    reading = lane(META, context, user("a"), use("c"), count(9, 9), result("c", "x" * 100), said("y"), count(30, 21))
    assert reading.view(2)[-1] == "x" * 24 + "…13 tokens truncated…" + "x" * 24
    assert (reading.states(2)[-1], reading.calls[1].fidelity, reading.lane.model) == ("truncated", "approx", "gpt-5")
    assert [(one.index, one.never_sent, one.compaction.mechanism) for one in reading.history.compactions] == [(None, 1, "truncate_output")]
    by_bytes = line("turn_context", {"truncation_policy": {"mode": "bytes", "limit": 10}})
    assert (
        lane(META, by_bytes, user("a"), use("c"), result("c", "é" * 40), said("y"), count(3, 3)).view(1)[-1] == "ééé…34 chars truncated…ééé"
    )


def test_reasoning_is_opaque_and_keeps_its_length() -> None:
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "look"}], "encrypted_content": "gAAAA"}
    block = lane(META, user("a"), line("response_item", thought)).messages[-1].blocks[0]
    assert (block.kind, block.signature_chars, block.flags) == ("thinking", 5, ("encrypted",))


def test_a_web_search_has_no_output_and_is_no_orphan() -> None:
    search = line("response_item", {"type": "web_search_call", "action": {"type": "search", "query": "q"}})
    reading = lane(META, user("a"), search, count(9, 9), said("b"), count(20, 11))
    assert (reading.count("tool_use"), [finding.code for finding in reading.history.findings]) == (1, [])
    assert reading.view(2)[-1] == '{"type":"search","query":"q"}'


def test_images_are_counted_and_never_kept_as_text() -> None:
    content = [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": "data:image/png;base64,QUJD"}]
    reading = lane(META, line("response_item", {"type": "message", "role": "user", "content": content}))
    image = reading.messages[1].blocks[1]
    assert (image.kind, image.media_type, image.media_bytes) == ("image", "image/png", 3)
    assert "QUJD" not in "".join(reading.bodies.values())


@pytest.mark.parametrize("output", ["text", [{"type": "input_text", "text": "text"}], {"content": "text", "success": False}])
def test_outputs_of_every_shape_are_one_block(output: Any) -> None:
    reading = lane(META, use("c"), result("c", output))
    assert reading.text(reading.messages[-1].blocks[0].body) == "text"
    assert reading.messages[-1].blocks[0].is_error is isinstance(output, dict)


def test_records_of_unknown_type_are_counted_and_cost_only_themselves() -> None:
    lines = [META, line("novelty", {"a": 1}), line("response_item", {"type": "novel_thing"}), {"no": "envelope"}, user("a")]
    source = read(IMPORTER, jsonl([*lines, 7]))
    assert (dict(source.verdicts), len(source.only.messages)) == ({"ok": 2, "unknown_type": 4}, 2)


def test_undo_data_is_known_and_never_model_text() -> None:
    ghost = line("response_item", {"type": "ghost_snapshot", "ghost_commit": {"id": "x"}})
    source = read(IMPORTER, jsonl([META, user("a"), ghost]))
    assert (dict(source.verdicts), len(source.only.messages)) == ({"ok": 3}, 2)


def test_an_item_written_twice_is_a_duplicate_and_one_id_with_two_contents_is_not() -> None:
    source = read(IMPORTER, jsonl([META, user("a", id="m"), user("a", id="m"), user("b", id="m")]))
    assert (dict(source.verdicts), len(source.only.messages)) == ({"ok": 3, "duplicate": 1}, 3)


@pytest.mark.parametrize("change", [lambda raw: raw.replace(b"\n", b"\r\n"), lambda raw: b"\xef\xbb\xbf" + raw, lambda raw: raw.rstrip()])
def test_line_ends_and_marks_change_nothing(change: Callable[[bytes], bytes]) -> None:
    raw = (SAMPLES / "codex_rollout.jsonl").read_bytes()
    first, again = read(IMPORTER, raw).only, read(IMPORTER, change(raw)).only
    assert (again.history.spans, again.history.calls, again.messages) == (first.history.spans, first.history.calls, first.messages)


def test_a_growing_rollout_keeps_the_numbers_of_its_messages_and_calls() -> None:
    lines = (SAMPLES / "codex_rollout.jsonl").read_bytes().splitlines(keepends=True)
    whole = read(IMPORTER, b"".join(lines)).only
    for end in range(1, len(lines)):
        part = read(IMPORTER, b"".join(lines[:end])).only
        assert [block.id for message in part.messages for block in message.blocks] == [
            block.id for message in whole.messages[: len(part.messages)] for block in message.blocks
        ]
        assert [(call.n, call.seq, call.usage) for call in part.calls] == [(call.n, call.seq, call.usage) for call in whole.calls][
            : len(part.calls)
        ]


def test_a_rollout_that_lost_its_head_is_known_by_its_first_message() -> None:
    assert lane(user("a"), said("b")).lane.key == lane(user("a")).lane.key != lane(user("c")).lane.key


def test_a_rollout_is_recognised_by_its_records() -> None:
    assert IMPORTER.sniff(head_of(SAMPLES / "codex_rollout.jsonl")) == 1.0
    assert IMPORTER.sniff(head_of(b'{"type":"message","role":"user"}\n{"a":1}\n')) == 0.0


@needs_shared
def test_a_fork_counts_only_its_own_call() -> None:
    folder = CASES / "bugs" / "bugs-05-codex-fork-replay-43ad"
    parent, fork = (read(IMPORTER, path).only for path in sorted(folder.iterdir()))
    assert (fork.lane.kind, fork.lane.parent_native_id) == ("fork", parent.lane.native_id)
    assert [message.inherited for message in fork.messages] == [True] * 4 + [False] * 2
    assert (fork.usage("input_tokens"), fork.usage("cache_read_tokens"), fork.usage("output_tokens")) == (800, 5300, 33)
    assert {call.at // 86_400_000 for call in fork.calls} == {20521}  # 2026-03-09


def test_a_compaction_in_a_copied_prefix_is_applied_and_counts_in_the_parent() -> None:
    head = line("session_meta", {"id": "sub", "parent_thread_id": "p", "subagent_history_start_ordinal": 4})
    copied = [user("a"), said("b"), compacted(message="sum")]
    numbered = [{**one, "ordinal": n} for n, one in enumerate([head, *copied, user("c"), said("d"), count(9, 9)])]
    reading = lane(*numbered)
    assert (reading.view(1), reading.listed, len(reading.history.compactions)) == (["a", "sum", "c"], [], 1)


@needs_shared
def test_a_subagent_counts_from_the_recorded_ordinal_on() -> None:
    reading = read(IMPORTER, CASES / "bugs" / "bugs-06-fork-boundary-029b.jsonl").only
    assert (reading.lane.kind, [message.inherited for message in reading.messages]) == ("subagent", [True] * 3 + [False] * 2)
    assert (reading.usage("input_tokens"), reading.usage("cache_read_tokens"), reading.usage("output_tokens")) == (700, 9000, 12)


@needs_shared
def test_the_context_of_a_call_is_its_last_usage() -> None:
    reading = read(IMPORTER, CASES / "bugs" / "bugs-24-cumulative-usage-4bbc.jsonl").only
    assert max(call.usage.prompt_tokens for call in reading.calls) == 116_000
    assert all(call.usage.prompt_tokens <= call.context_window for call in reading.calls)
    assert ["594,000" in finding.detail for finding in reading.history.findings if finding.code == "impossible_count"] == [True]


@needs_shared
def test_an_encrypted_compaction_is_one_event_labelled_with_its_length() -> None:
    reading = read(IMPORTER, CASES / "bugs" / "bugs-25-twin-compaction-bf6f.jsonl").only
    (folded,) = reading.listed
    assert (folded.compaction.line, folded.compaction.tokens_before, folded.compaction.tokens_after) == (9, 230_090, 31_000)
    assert [message.origin for message in reading.messages].count("human") == 1
    (opaque,) = [block for message in reading.messages for block in message.blocks if block.kind == "opaque"]
    assert (opaque.signature_chars, reading.text(opaque.body)) == (20, "[encrypted compaction, 20 characters]")


@needs_shared
def test_a_local_summary_is_readable_and_the_tools_before_it_are_gone() -> None:
    reading = read(IMPORTER, CASES / "formats" / "formats-codex-local-summary-61f3.jsonl").only
    assert reading.view(2) == [
        "Rename the field `colour` to `tint` everywhere.",
        "Another model began this task.\nOne place only: theme.py line 12.",
        "second ask",
    ]
    assert [one.compaction.mechanism for one in reading.history.compactions] == ["summary", "rewind"]


@needs_shared
@pytest.mark.parametrize("path", sorted((CASES / "render").glob("render-other-formats-*.jsonl")), ids=lambda path: path.stem)
def test_hostile_text_is_kept_literally(path: Path) -> None:
    if IMPORTER.sniff(head_of(path)) < 0.5:
        pytest.skip("another format")
    summary = json.loads(path.read_text().splitlines()[8])["payload"]["message"]
    assert summary in read(IMPORTER, path).only.view(2)
