"""dsh session logs: what each call was sent, what prunes and compactions took, and what damaged or older logs still tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from compaction.errors import SessionLogError
from compaction.replay.events import rows_of
from compaction.replay.rows import LaneFacts
from compaction.transcript import Edited
from ctxweb.importers import recognise
from ctxweb.importers.dsh import IMPORTER, load_log
from ctxweb.importers.dsh.reader import UnreadableLog
from tests.ctxweb.importers.dsh_events import (
    HEADER,
    Line,
    compaction,
    event,
    header,
    lane,
    log,
    numbered,
    prune,
    replacing,
    result,
    said,
    text,
    usage,
    user,
)
from tests.ctxweb.importers.readings import SAMPLES, LaneReading, head_of, jsonl, read
from tests.shared import SHARED, needs_shared

pytestmark = pytest.mark.nodb
GOLDEN = SHARED / "conformance" / "golden" / "dsh"
LONG = "a" * 300
SHORT = "a\n\n[... tool result middle pruned ...]\n\na"


def codes(reading: LaneReading) -> list[str]:
    return [finding.code for finding in reading.history.findings if finding.code != "consecutive_user"]


def compactions(reading: LaneReading) -> list[Any]:
    return [each.compaction for each in reading.history.compactions]


def test_the_sample_has_one_call_a_prune_and_a_compaction_and_every_record_is_ok() -> None:
    source = read(IMPORTER, SAMPLES / "dsh_session.jsonl")
    assert dict(source.verdicts) == {"ok": 16}
    found = [(each.mechanism, each.line, each.native_id) for each in compactions(source.only)]
    assert found == [("prune_head_tail", 10, None), ("summary", 13, "cmp1")]
    assert source.only.view(1) == ["You are dsh", "Audit the log parser"]
    assert [call.fidelity for call in source.only.calls] == ["exact"]


def test_a_call_sees_the_header_and_the_surface_before_its_answer() -> None:
    reading = lane(user("a"), header(tools=[{"name": "bash"}]), said("b", calls=["t"]), result("t", "c"), said("d"))
    assert reading.view(1) == ["Be brief", '[{"name":"bash"}]', "a"]
    assert reading.view(2) == ["Be brief", '[{"name":"bash"}]', "a", "b", '{"path":"a.py"}', "c"]
    assert [message.label for message in reading.messages[1:3]] == ["system", "tools"]
    assert [message.call for message in reading.messages] == [None, None, None, 1, None, 2]


def test_messages_before_a_header_that_never_comes_are_seen_too() -> None:
    assert lane(user("a"), said("b")).view(1) == ["a"]


def test_blocks_become_kinds_with_ids_names_and_paths() -> None:
    image = {"type": "image", "attachment": {"attachmentId": "sha256:1", "mediaType": "image/png", "bytes": 69}}
    content = [text("t"), {"type": "reasoning", "text": "r"}, image, {"type": "mystery", "x": 1}]
    message = {"id": "m", "role": "user", "content": content, "source": {"kind": "plugin", "plugin": "fs"}}
    reading = lane(event("user/message", message, surfaceOp="append"), said("b", calls=["t"]))
    first, answer = reading.messages
    assert [block.kind for block in first.blocks] == ["text", "thinking", "image", "opaque"]
    assert (first.blocks[2].media_type, first.blocks[2].media_bytes) == ("image/png", 69)
    assert (first.origin, first.label) == ("harness", "fs")
    call = answer.blocks[1]
    assert (call.tool_id, call.tool_name, call.path) == ("t", "bash", "a.py")


def test_usage_is_disjoint_as_logged_and_unknown_where_it_is_not_told() -> None:
    reading = lane(user("a"), said("b", usage=usage(100, cacheReadTokens=20, reasoningTokens=3)), user("c"), said("d"))
    first, second = (call.usage for call in reading.calls)
    assert (first.input_tokens, first.cache_read_tokens, first.cache_write_tokens, first.prompt_tokens) == (100, 20, None, 120)
    assert (second.input_tokens, second.prompt_tokens) == (None, None)


def test_figures_that_are_no_counts_are_unknown_and_flagged() -> None:
    (call,) = lane(user("a"), said("b", usage={"inputTokens": -1, "outputTokens": "2"})).calls
    assert (call.usage.input_tokens, call.flags) == (None, ("odd_inputTokens", "odd_outputTokens"))


def test_a_prune_changes_one_block_and_names_its_call_and_its_recorded_price() -> None:
    events = [user("a"), said("b", calls=["t"]), result("t", LONG), said("c"), prune(2, 3011)]
    reading = lane(*events, result("t", SHORT, **replacing(2, 2, [2])), said("d"))
    assert reading.view(2)[3] == LONG
    assert reading.view(3)[3] == SHORT
    assert reading.states(3)[3] == "truncated"
    (found,) = compactions(reading)
    assert (found.mechanism, found.trigger, found.tokens_before, found.scale, found.flags) == (
        "prune_head_tail", "auto", 3011, "messages", ("call t",),
    )  # fmt: skip
    assert found.line == 6
    assert codes(reading) == []
    assert len(reading.messages) == 5


def test_the_prunes_of_one_pass_are_one_compaction() -> None:
    events = [user("a"), said("b", calls=["t", "u"]), result("t", LONG), result("u", LONG + "b")]
    passed = [prune(2, 10), result("t", SHORT, **replacing(2, 2, [2])), prune(3, 20), result("u", SHORT, **replacing(3, 3, [3]))]
    reading = lane(*events, *passed, said("c"))
    (found,) = compactions(reading)
    assert (found.tokens_before, found.flags) == (30, ("call t", "call u"))
    assert len(reading.history.ledger) == 2


def test_a_result_that_is_rewritten_without_a_price_is_no_prune_of_a_known_size() -> None:
    events = [user("a"), said("b", calls=["t"]), result("t", LONG), result("t", "masked", **replacing(2, 2, [2]))]
    (found,) = compactions(lane(*events, said("c")))
    assert (found.mechanism, found.tokens_before, found.tokens_after) == ("truncate_output", None, None)


@pytest.mark.parametrize("prefix", ["compaction", "compact"])
def test_a_compaction_puts_its_checkpoint_where_its_range_stood(prefix: str) -> None:
    events = [user("a"), said("b", usage=usage(900)), user("c"), *compaction(0, 1, [0, 1], "S", at=3, prefix=prefix)]
    reading = lane(*events, said("d", usage=usage(50)))
    assert reading.view(2) == ["Preamble\n\n<compacted-summary>", "S", "</compacted-summary>", "c"]
    (found,) = reading.listed
    assert (found.compaction.mechanism, found.compaction.trigger, found.compaction.native_id) == ("summary", "auto", "c")
    assert (found.compaction.line, found.compaction.tokens_after, found.compaction.flags) == (6, 50, ("shadowed 77 tokens",))
    assert found.edits == 2
    assert reading.messages[3].origin == "summary"


def test_the_size_before_a_compaction_is_the_meters_where_a_usage_anchors_it() -> None:
    anchored = lane(user("a"), said("b", usage=usage(900, 10)), user("c"), *compaction(0, 1, [0, 1], "S", at=3))
    (found,) = compactions(anchored)
    assert found.tokens_before == 900 + 10 + 9  # and the message that came after the answer
    (unknown,) = compactions(lane(user("a"), said("b"), *compaction(0, 1, [0, 1], "S", at=2)))
    assert unknown.tokens_before is None


def test_a_compaction_between_turns_was_asked_for_by_hand() -> None:
    (found,) = compactions(lane(user("a"), said("b"), *compaction(0, 1, [0, 1], "S", at=2, turn=None)))
    assert found.trigger == "manual"


def test_a_failed_compaction_is_shown_and_takes_nothing() -> None:
    told = {"compactionId": "x", "turn": 1}
    ended = [event("compaction/start", told), event("compaction/end", {**told, "error": "shrink check failed"})]
    reading = lane(user("a"), said("b"), *ended, user("c"), said("d"))
    (found,) = reading.listed
    assert (found.compaction.status, found.compaction.line, found.edits) == ("failed", 5, 0)
    assert reading.view(2) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("after", "code"),
    [([], "compaction_unfinished"), ([event("session/end-seed")], "compaction_stale"), ([user("x")], "compaction_unfinished")],
)
def test_a_compaction_without_an_end_is_stale_before_the_end_of_a_seed_and_unfinished_else(after: list[Line], code: str) -> None:
    reading = lane(user("a"), event("compaction/start", {"compactionId": "x", "turn": 1}), *after)
    assert codes(reading) == [code]


def test_a_range_that_a_plugin_replaces_without_a_summary_is_replaced() -> None:
    put = user("notes", source={"kind": "plugin", "plugin": "folder"}, **replacing(0, 1, [0, 1]))
    reading = lane(user("a"), said("b"), put, said("c"))
    assert reading.view(2) == ["notes"]
    assert [each.mechanism for each in compactions(reading)] == ["checkpoint_replace"]
    assert {entry.verb for entry in reading.history.ledger} == {"replace"}


def test_another_header_replaces_what_changed_in_it_and_is_no_compaction() -> None:
    first, second = header("One", [{"name": "x"}]), header("Two", [{"name": "x"}])
    reading = lane(user("a"), first, said("b"), second, said("c"), header("Two"), said("d"), header("Two", [{"name": "y"}]), said("e"))
    assert [reading.view(n)[:2] for n in (1, 2)] == [["One", '[{"name":"x"}]'], ["Two", '[{"name":"x"}]']]
    assert reading.view(3) == ["Two", "a", "b", "c"]
    assert reading.view(4) == ["Two", '[{"name":"y"}]', "a", "b", "c", "d"]
    assert {each.mechanism for each in compactions(reading)} == {"request_header"}
    assert reading.listed == []
    assert {call.fidelity for call in reading.calls} == {"exact"}


def test_a_system_prompt_that_comes_later_stands_in_front_of_the_tools() -> None:
    reading = lane(user("a"), header(None, [{"name": "x"}]), said("b"), header("One", [{"name": "x"}]), said("c"), header(None), said("d"))
    assert reading.view(2)[:2] == ["One", '[{"name":"x"}]']
    assert reading.view(3) == ["a", "b", "c"]
    assert {call.fidelity for call in reading.calls} == {"exact"}


def test_the_same_header_again_changes_nothing() -> None:
    assert compactions(lane(user("a"), header(), said("b"), header(), said("c"))) == []


def test_an_older_header_change_keeps_lines_of_the_system_prompt() -> None:
    change = event("request/header-delta", {"system": {"keepStart": 1, "keepEnd": 1, "insert": ["new"]}})
    reading = lane(user("a"), header("first\nold\nlast"), said("b"), change, said("c"))
    assert reading.view(2)[0] == "first\nnew\nlast"


@pytest.mark.parametrize("data", [{"system": {"keepStart": 9, "keepEnd": 0, "insert": []}}, {"tools": {}}, {"system": "x"}, {}])
def test_a_header_change_that_cannot_be_followed_makes_later_views_approximate(data: Line) -> None:
    reading = lane(user("a"), header("x"), said("b"), event("request/header-delta", data), said("c"))
    assert [call.fidelity for call in reading.calls] == ["exact", "approx"]
    assert codes(reading) == ["header_change_unread"]


def test_placeholders_of_committed_examples_are_no_exact_view() -> None:
    assert [call.fidelity for call in lane(user("a"), header("{{system}}", "{{tools}}"), said("b")).calls] == ["derived"]


def test_an_unknown_event_is_counted_and_lowers_later_views_unless_it_is_ignorable() -> None:
    harmless = read(IMPORTER, log(user("a"), event("zz/new", ignorable=True), said("b")))
    assert harmless.verdicts["unknown_type"] == 1
    assert [call.fidelity for call in harmless.only.calls] == ["exact"]
    reading = lane(user("a"), said("b"), event("zz/new"), said("c"))
    assert [call.fidelity for call in reading.calls] == ["exact", "approx"]
    (finding,) = [finding for finding in reading.history.findings if finding.code == "unknown_event"]
    assert (finding.line, finding.detail.partition(":")[0]) == (4, "zz/new")


def test_lost_events_are_told_and_lower_later_views() -> None:
    lines = log(user("a"), said("b"), user("c"), said("d")).split(b"\n")
    lines[3] = b'{"type": "user/mess'
    source = read(IMPORTER, b"\n".join(lines))
    assert source.verdicts == {"ok": 4, "invalid_json": 1}
    assert [call.fidelity for call in source.only.calls] == ["exact", "approx"]
    assert codes(source.only) == ["event_seq_gap"]


def test_an_event_that_is_there_already_is_a_duplicate() -> None:
    data = log(user("a"), said("b"))
    source = read(IMPORTER, data + data)
    assert source.verdicts == {"ok": 3, "duplicate": 3}
    assert len(source.only.messages) == 2


def test_two_sessions_in_one_file_are_two_lanes() -> None:
    source = read(IMPORTER, log(user("a"), said("b")) + log(user("c"), said("d"), head={**HEADER, "id": "s-2"}))
    assert [each.lane.native_id for each in source.lanes] == ["s-1", "s-2"]
    assert source.lanes[1].lane.record_numbers == (4, 5, 6)


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (user("b", **replacing(7, 0, [0])), "surface_start_unknown"),
        (user("b", **replacing(0, 7, [0])), "surface_end_unknown"),
        (user("b", surfaceOp="prepend"), "surface_op_invalid"),
        ({**user("b"), "surfaceOp": None}, "surface_op_invalid"),
    ],
)
def test_a_message_without_a_known_place_stands_at_the_end_and_lowers_later_views(broken: Line, code: str) -> None:
    reading = lane(user("a"), broken, said("c"))
    assert reading.view(1) == ["a", "b"]
    assert codes(reading) == [code]
    assert reading.calls[0].fidelity == "approx"


def test_a_rule_that_does_not_touch_the_view_is_told_and_no_more() -> None:
    reading = lane(user("a"), user("b", sourceEventSeqs=[0, 0]), said("c"))
    assert codes(reading) == ["sources_duplicate"]
    assert reading.calls[0].fidelity == "exact"


def test_packed_rows_stand_for_their_events_and_a_broken_one_is_told() -> None:
    row: Line = {
        "type": "text-chunks",
        "seq0": 1,
        "time0": 5,
        "data": {"turn": 1, "step": 1, "index": 0, "dt": [1, 1], "texts": ["x", "y", "z"]},
    }
    events = [*numbered([user("a")]), row, *numbered([said("b", sourceEventSeqs=[1, 2, 3])], first=4)]
    assert codes(read(IMPORTER, jsonl([HEADER, *events])).only) == []
    source = read(IMPORTER, jsonl([HEADER, events[0], {**row, "seq0": -1}, events[2]]))
    assert source.verdicts == {"ok": 3, "unknown_type": 1}
    assert codes(source.only) == ["chunk_row_seq0_invalid", "event_seq_gap"]


def test_events_without_seq_and_time_are_numbered_by_their_place() -> None:
    row: Line = {"type": "text-chunks", "data": {"turn": 1, "step": 1, "index": 0, "dt": [0, 0], "texts": ["x", "y", "z"]}}
    events = [user("a"), row, said("b", sourceEventSeqs=[1, 2, 3]), *compaction(0, 4, [0, 4], "S", at=5), said("c")]
    reading = read(IMPORTER, jsonl([HEADER, *events])).only
    assert codes(reading) == []
    assert reading.view(2)[1] == "S"
    assert {message.at for message in reading.messages} == {None}


def test_a_request_that_was_too_long_is_told_and_is_no_call() -> None:
    failure = {"message": "too long", "code": "CONTEXT_WINDOW_EXCEEDED"}
    refused = event("assistant/chunk", {"turn": 1, "step": 1, "chunk": {"type": "finish", "reason": {"kind": "error", "failure": failure}}})
    reading = lane(user("a"), refused, said("b"))
    assert codes(reading) == ["request_too_long"]
    assert [call.flags for call in reading.calls] == [("after_refusal",)]
    rows = rows_of(reading.events, LaneFacts(public_id="x"), dict.fromkeys(reading.bodies, 1))
    assert rows.facts.overflowed == {1}


def test_older_shapes_of_messages_are_read() -> None:
    answer = {"turn": 1, "step": 1, "content": [{"type": "tool-call", "id": "t", "name": "bash", "arguments": "{}"}], "usage": usage(5)}
    done = {"turn": 1, "step": 1, "callId": "t", "content": [text("out")], "isError": True}
    context = event("context/message", {"content": [text("mode changed")], "source": {"kind": "plugin", "plugin": "x"}}, surfaceOp="append")
    reading = lane(
        user("a"),
        context,
        event("assistant/message", answer, surfaceOp="append"),
        event("tool/result", done, surfaceOp="append"),
        said("b"),
    )
    assert reading.view(2) == ["a", "mode changed", "{}", "out"]
    assert [message.origin for message in reading.messages] == ["human", "harness", "model", "tool", "model"]
    assert reading.messages[3].blocks[0].is_error
    assert reading.calls[0].usage.input_tokens == 5


def test_a_spilled_result_names_where_its_text_lies() -> None:
    notice = "head\n\n(Omitted 1930 bytes. Full formatted result stored at: /tmp/r.txt. Read it with offset and limit.)"
    block = lane(user("a"), said("b", calls=["t"]), result("t", notice)).messages[2].blocks[0]
    assert (block.state, block.pointer) == ("spilled", "/tmp/r.txt")


def test_a_subagent_and_a_fork_name_their_parent_and_what_they_brought_is_inherited() -> None:
    subagent = lane(user("a"), head={**HEADER, "parentSession": "p", "origin": "subagent", "delegationDepth": 1}).lane
    assert (subagent.kind, subagent.parent_native_id) == ("subagent", "p")
    events = [user("a"), said("b"), event("session/end-seed"), user("c"), said("d")]
    fork = lane(*events, head={**HEADER, "parentSession": "p", "seedLength": 2})
    assert (fork.lane.kind, fork.lane.parent_native_id) == ("fork", "p")
    assert [message.inherited for message in fork.messages] == [True, True, False, False]
    assert [call.n for call in fork.calls] == [2]


def test_a_compaction_of_the_seed_counts_where_it_was_made() -> None:
    events = [user("a"), said("b"), *compaction(0, 1, [0, 1], "S", at=2), event("session/end-seed"), user("c"), said("d")]
    reading = lane(*events, head={**HEADER, "parentSession": "p", "seedLength": 6})
    assert reading.listed == []
    assert reading.view(2)[1:] == ["S", "</compacted-summary>", "c"]


def test_title_window_and_model_are_those_of_the_latest_events() -> None:
    context = event("request/context", {"provider": "deepseek", "model": "deepseek-r", "contextWindow": 128_000})
    told = lane(user("a"), header(), context, said("b"), event("session/title", {"title": "T"})).lane
    assert (told.title, told.context_window, told.model, told.cwd, told.key) == ("T", 128_000, "deepseek-r", "/w", "s-1")


def test_sessions_of_committed_examples_are_told_apart_by_their_first_message() -> None:
    head = {**HEADER, "id": "{{sessionId}}"}
    assert lane(user("a"), head=head).lane.key != lane(user("b"), head=head).lane.key


@pytest.mark.parametrize("change", [{"version": 1}, {"version": None}, {"sandboxMode": "x"}, {"approvalPolicy": None}, {"id": 5}])
def test_a_header_of_another_version_or_draft_is_refused(change: Line) -> None:
    with pytest.raises(UnreadableLog):
        read(IMPORTER, log(user("a"), head={**HEADER, **change}))


@pytest.mark.parametrize("keep", [slice(None), slice(1, None)])
def test_a_log_is_recognised_by_its_header_or_by_its_events(keep: slice) -> None:
    lines = log(user("a"), said("b")).split(b"\n")[keep]
    importer = recognise(head_of(b"\n".join(lines)))
    assert importer is IMPORTER


def test_a_log_without_a_header_is_a_lane_all_the_same() -> None:
    reading = read(IMPORTER, jsonl(numbered([user("a"), said("b")]))).only
    assert (reading.lane.native_id, reading.view(1)) == (None, ["a"])


@pytest.mark.parametrize("value", [None, 5, "x", [], {"type": None}, {"type": 5, "seq": 0}, {"type": "user/message", "seq": 0, "data": 3}])
def test_odd_records_cost_themselves_only(value: Any) -> None:
    source = read(IMPORTER, jsonl([HEADER, value, *numbered([user("a"), said("b")], first=1)]))
    assert source.only.view(1)[-1] == "a"
    assert sum(source.verdicts.values()) == 4


def test_edits_never_take_the_header_with_a_range() -> None:
    events = [user("a"), header(), said("b"), user("c"), *compaction(0, 2, [0, 2], "S", at=4), said("d")]
    reading = lane(*events)
    assert reading.view(2) == ["Be brief", "Preamble\n\n<compacted-summary>", "S", "</compacted-summary>", "c"]
    edits = [each.compaction for each in reading.events if isinstance(each, Edited)]
    assert len(edits) == 1


@needs_shared
@pytest.mark.parametrize("name", ["unpacked.jsonl", "packed.jsonl"])
def test_packed_and_unpacked_logs_give_the_same_lane(name: str) -> None:
    reading = read(IMPORTER, GOLDEN / f"sample_session.{name}").only
    assert [(each.mechanism, each.status) for each in compactions(reading)] == [
        ("prune_head_tail", "ok"),
        ("summary", "ok"),
        ("summary", "failed"),
    ]
    assert [each.tokens_before for each in compactions(reading)] == [2512, 3844, None]
    assert codes(reading) == []


def frames(*parts: bytes) -> bytes:
    return b"".join(zstandard.ZstdCompressor(write_checksum=True).compress(part) for part in parts)


@pytest.mark.parametrize("kept", [1, 10, -1])
def test_a_log_whose_last_frame_is_cut_ends_before_it(tmp_path: Path, kept: int) -> None:
    lines = log(user("a"), said("b"), user("c")).splitlines(keepends=True)
    path = tmp_path / "session.jsonl.zstd"
    path.write_bytes(frames(lines[0], b"".join(lines[1:3])) + frames(lines[3])[:kept])
    found = load_log(path)
    assert (len(found.events), found.is_truncated) == (2, True)
    path.write_bytes(frames(*lines))
    assert (len(load_log(path).events), load_log(path).is_truncated) == (3, False)


def test_a_broken_line_is_a_tail_after_the_last_turn_and_corruption_before_one(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(log(user("a"), event("turn/end", {"turn": 1})) + b'{"type": "us')
    assert (len(load_log(path).events), load_log(path).is_truncated) == (2, True)
    ends = json.dumps({"seq": 1, "time": 1, **event("turn/end", {"turn": 1})}).encode()
    path.write_bytes(log(user("a")) + b"{broken}\n" + ends + b"\n")
    with pytest.raises(SessionLogError, match="line 3"):
        load_log(path)
