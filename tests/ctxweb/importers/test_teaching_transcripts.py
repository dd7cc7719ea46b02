"""Transcripts of learn-workbuddy, and archives of learn-claude-code."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxweb.importers import anthropic_messages, learn_claude_code, recognise, workbuddy
from ctxweb.importers.learn_claude_code.written_blocks import read_written
from tests.ctxweb.importers.readings import head_of, jsonl, read

pytestmark = pytest.mark.nodb

Line = dict[str, Any]


def line(number: int, role: str, content: Any, session: str = "s1", **fields: Any) -> Line:
    """A line of a workbuddy transcript, envelope and all."""
    return {
        "schema_version": 1,
        "type": "message",
        "session_id": session,
        "sequence": number,
        "event_id": f"transcript:{session}:{number}",
        "recorded_at": "2026-08-20T09:00:00Z",
        "role": role,
        "content": content,
        **fields,
    }


READ = [{"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "a.py"}}]
ANSWER = [{"type": "tool_result", "tool_use_id": "t", "content": "x = 1", "_read_path": "a.py"}]
SESSION = jsonl([line(1, "user", "Go"), line(2, "assistant", READ), line(3, "user", ANSWER), line(4, "assistant", "Done")])


def test_a_transcript_is_a_session_whose_answers_are_calls() -> None:
    source = read(workbuddy.IMPORTER, SESSION)
    reading = source.only
    assert source.verdicts == {"ok": 4}
    assert (reading.lane.key, reading.lane.native_id) == ("s1", "s1")
    assert reading.view(2) == ["Go", '{"path":"a.py"}', "x = 1"]
    assert [message.native_id for message in reading.messages] == [f"transcript:s1:{number}" for number in (1, 2, 3, 4)]
    assert reading.messages[0].at == 1_787_216_400_000
    assert reading.messages[2].blocks[0].path == "a.py"
    assert reading.history.findings == ()


@pytest.mark.parametrize("keep", ["event_id", "session_id"])
def test_a_transcript_is_recognised_by_its_envelope(keep: str) -> None:
    other = {"event_id": ("session_id", "sequence"), "session_id": ("event_id",)}[keep]
    lines = [{name: value for name, value in json.loads(each).items() if name not in other} for each in SESSION.splitlines()]
    assert recognise(head_of(jsonl(lines))) is workbuddy.IMPORTER


def test_bare_lines_without_an_envelope_are_left_to_the_formats_of_message_lists() -> None:
    lines = [{"role": role, "content": content} for role, content in (("user", "a"), ("assistant", "b"))]
    assert workbuddy.IMPORTER.sniff(head_of(jsonl(lines))) == 0.0
    assert learn_claude_code.IMPORTER.sniff(head_of(jsonl(lines))) == 0.0


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({"sequence": 7}, ["transcript_sequence_mismatch"]),
        ({"sequence": True}, ["transcript_sequence_mismatch"]),
        ({"event_id": "transcript:s1:9"}, ["transcript_event_id_mismatch"]),
        ({"event_id": "transcript:other:2"}, ["transcript_event_id_mismatch"]),
    ],
)
def test_an_envelope_that_contradicts_its_place_is_told_and_the_message_stays(change: Line, codes: list[str]) -> None:
    reading = read(workbuddy.IMPORTER, jsonl([line(1, "user", "a"), line(2, "assistant", "b", **change)])).only
    found = [finding for finding in reading.history.findings if finding.code.startswith("transcript")]
    assert [finding.code for finding in found] == codes
    assert [finding.line for finding in found] == [2]
    assert len(reading.messages) == 2


def test_content_of_any_shape_is_shown() -> None:
    reading = read(workbuddy.IMPORTER, jsonl([line(1, "user", {"a": "值"}), line(2, "assistant", None), line(3, "tool", "out")])).only
    assert [reading.text(block.body) for message in reading.messages for block in message.blocks] == ['{"a":"值"}', "", "out"]
    assert [message.origin for message in reading.messages] == ["human", "model", "tool"]


def test_sessions_in_one_file_are_lanes_of_their_own_and_other_lines_are_counted() -> None:
    source = read(workbuddy.IMPORTER, jsonl([line(1, "user", "a"), line(1, "user", "b", session="s2"), {"note": 1}, 5]))
    assert [each.lane.key for each in source.lanes] == ["s1", "s2"]
    assert source.verdicts == {"ok": 2, "unknown_type": 2}


def test_the_marks_of_its_layers_are_recognised_in_it() -> None:
    cut = "x" * 30 + "\n\n[... 已截断: 原始 900 字符, 保留 30 字符 ...]"
    lines = [
        line(1, "user", "[之前的对话摘要]\nWhat was done"),
        line(2, "assistant", "好的, 我已了解之前的对话内容。请继续。"),
        line(3, "assistant", READ),
        line(4, "user", [{**ANSWER[0], "content": cut}]),
    ]
    reading = read(workbuddy.IMPORTER, jsonl(lines)).only
    assert reading.messages[0].origin == "summary"
    assert reading.messages[3].blocks[0].state == "truncated"


WRITTEN = "ToolUseBlock(id='t', caller=DirectCaller(type='direct'), input={'path': 'a.py'}, name='read_file', type='tool_use')"
TEXT = "TextBlock(citations=None, text='I\\'ll look.\\nNow.', type='text')"
CLEARED = "[Earlier tool result compacted. Re-run if needed.]"
ARCHIVE = jsonl(
    [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": [TEXT, WRITTEN]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": "[Earlier tool result compacted. Re-run if needed.]"}],
        },
        {"role": "user", "content": "[snipped 12 messages]"},
        {"role": "assistant", "content": ["TextBlock(text='Done', type='text')"]},
    ]
)


def test_an_archive_is_read_as_the_messages_that_it_holds() -> None:
    assert recognise(head_of(ARCHIVE)) is learn_claude_code.IMPORTER
    source = read(learn_claude_code.IMPORTER, ARCHIVE)
    reading = source.only
    assert source.verdicts == {"ok": 5}
    call = reading.messages[1].blocks[1]
    assert (call.kind, call.tool_id, call.tool_name, call.path) == ("tool_use", "t", "read_file", "a.py")
    assert reading.text(reading.messages[1].blocks[0].body) == "I'll look.\nNow."
    assert reading.messages[2].blocks[0].state == "cleared"
    assert reading.messages[3].origin == "summary"
    assert reading.view(2)[-1] == "[snipped 12 messages]"


def test_an_archive_with_blocks_in_json_is_a_list_of_messages() -> None:
    lines = [{"role": "user", "content": "Go"}, {"role": "assistant", "content": READ}, {"role": "user", "content": ANSWER}]
    assert recognise(head_of(jsonl(lines))) is anthropic_messages.IMPORTER


def test_the_answer_of_the_compact_tool_whose_call_was_summarised_away_is_an_orphan() -> None:
    answer = {"type": "tool_result", "tool_use_id": "t9", "content": "[Compacted. Conversation history has been summarized.]"}
    lines = [{"role": "user", "content": "[Compacted]\n\nWhat was done"}, {"role": "user", "content": [answer]}]
    reading = read(learn_claude_code.IMPORTER, jsonl([*lines, {"role": "assistant", "content": [TEXT]}])).only
    assert reading.messages[0].origin == "summary"
    assert "orphan_result" in {finding.code for finding in reading.history.findings}


@pytest.mark.parametrize(
    "value",
    [
        "ToolUseBlock(",
        "ToolUseBlock()",
        "ToolUseBlock('t')",
        "ToolUseBlock(type=5)",
        "TextBlock(text=print('x'), type='text'",
        "see TextBlock(text='a', type='text')",
        "TextBlock(" + "(" * 5_000 + ")",
        "TextBlock(text='" + "x" * 1_000_000 + "', type='text')",
        {"type": "text", "text": "a"},
        None,
    ],
)
def test_what_is_no_written_block_stays_as_it_is(value: Any) -> None:
    assert read_written(value) == value


def test_nothing_in_a_written_block_is_run() -> None:
    assert read_written("TextBlock(text=__import__('os').getcwd(), type='text')") == {"type": "text"}
