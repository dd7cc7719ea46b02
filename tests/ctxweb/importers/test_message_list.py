"""The documented message list: what it carries, that nothing is lost on the way there and back, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from compaction.messages import Body
from compaction.transcript import Event, Lane
from ctxweb.importers import IMPORTERS, anthropic_messages, codex, openai_messages
from ctxweb.importers.base import Importer
from ctxweb.importers.message_list import IMPORTER
from ctxweb.importers.message_list.encode import event_records, header_record, lane_record
from ctxweb.importers.message_list.fields import BadField
from tests.compaction.lanes import lanes
from tests.ctxweb.importers.readings import SAMPLES, LaneReading, SourceReading, head_of, jsonl, read
from tests.shared import SHARED, needs_shared

HEADER = {"format": "ctxweb.message_list", "version": 1}

Record = dict[str, Any]


def written(reading: LaneReading) -> bytes:
    """The lane as a message list."""
    text_of = text_in(reading.bodies)
    return jsonl([header_record(), lane_record(reading.lane), *event_records(reading.events, text_of)])


def text_in(bodies: dict[bytes, str]) -> Callable[[Body], str]:
    return lambda body: body.text if body.text is not None else bodies[body.digest]


def same_history(first: LaneReading, again: LaneReading) -> None:
    assert again.history.spans == first.history.spans
    assert again.history.ledger == first.history.ledger
    assert again.history.sizes == first.history.sizes
    assert [(found.code, found.seq, found.detail) for found in again.history.findings] == [
        (found.code, found.seq, found.detail) for found in first.history.findings
    ]
    for one, other in zip(first.history.calls, again.history.calls, strict=True):
        assert (one.usage, one.seq, one.previous, one.fidelity, one.flags) == (
            other.usage,
            other.seq,
            other.previous,
            other.fidelity,
            other.flags,
        )
    for folded, repeated in zip(first.history.compactions, again.history.compactions, strict=True):
        assert (folded.index, folded.before_call, folded.removed, folded.added) == (
            repeated.index,
            repeated.before_call,
            repeated.removed,
            repeated.added,
        )
        assert (folded.compaction.mechanism, folded.compaction.trigger, folded.compaction.tokens_after) == (
            repeated.compaction.mechanism,
            repeated.compaction.trigger,
            repeated.compaction.tokens_after,
        )


@pytest.mark.parametrize(
    ("importer", "name"),
    [
        (codex.IMPORTER, "codex_rollout.jsonl"),
        (anthropic_messages.IMPORTER, "anthropic_messages.json"),
        (anthropic_messages.IMPORTER, "anthropic_response.json"),
        (openai_messages.IMPORTER, "openai_chat_messages.json"),
        (openai_messages.IMPORTER, "openai_responses_compact.json"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_session_that_is_written_and_read_again_has_the_same_history(importer: Importer, name: str) -> None:
    first = read(importer, SAMPLES / name).only
    source = read(IMPORTER, written(first))
    assert set(source.verdicts) == {"ok"}
    same_history(first, source.only)
    assert [message.records for message in source.only.messages] == [message.records for message in first.messages]


@given(lanes())
def test_any_lane_comes_back_as_it_was(events: list[Event]) -> None:
    lane = Lane(key="k", native_id=None, kind="main", events=events)
    records = [header_record(), lane_record(lane), *event_records(events, text_in({}))]
    again = read(IMPORTER, jsonl(records))
    first = LaneReading.of(lane, events, {})
    same_history(first, again.only)
    assert [type(event) for event in again.only.events if not _is_show(event)] == [type(event) for event in events if not _is_show(event)]


def _is_show(event: Event) -> bool:
    return type(event).__name__ == "Shown"


@needs_shared
@pytest.mark.parametrize("path", sorted((SHARED / "corpus").glob("c*/*.jsonl")), ids=lambda path: path.stem)
def test_shared_sessions_come_back_as_they_were(path: Path) -> None:
    importer = max(IMPORTERS, key=lambda one: one.sniff(head_of(path)))
    if importer.sniff(head_of(path)) < 0.5 or path.stat().st_size > 1_500_000:
        pytest.skip("of another format, or large")
    for first in read(importer, path).lanes:
        same_history(first, read(IMPORTER, written(first)).only)


def test_a_list_can_be_written_by_hand() -> None:
    records = [
        HEADER,
        {"type": "message", "role": "user", "content": "Fix it"},
        {"type": "call", "usage": {"input_tokens": 10, "cache_read_tokens": 2, "output_tokens": 3}, "model": "m"},
        {"type": "message", "role": "assistant", "content": "Done", "call": 1},
        {"type": "message", "role": "user", "origin": "summary", "content": "It was fixed", "shown": False},
        {"type": "compaction", "mechanism": "summary", "trigger": "manual", "tokens_before": 12, "edits": [
            {"verb": "summarise", "takes": ["1.1", "2.1"], "puts": [3]}]},
        {"type": "message", "role": "user", "content": "Thanks"},
        {"type": "call", "usage": {"input_tokens": 5}},
    ]  # fmt: skip
    reading = read(IMPORTER, jsonl(records)).only
    assert (reading.view(1), reading.view(2)) == (["Fix it"], ["It was fixed", "Thanks"])
    assert (reading.usage("input_tokens"), reading.usage("cache_read_tokens"), reading.usage("cache_write_tokens")) == (15, 2, None)
    assert reading.listed[0].compaction.trigger == "manual"


def test_one_json_object_holds_the_same_as_lines() -> None:
    records = [{"type": "message", "role": "user", "content": "a"}, {"type": "call"}]
    document = json.dumps({**HEADER, "title": "t", "records": records}, indent=1).encode()
    reading = read(IMPORTER, document).only
    assert (reading.view(1), reading.lane.title, reading.calls[0].line) == (["a"], "t", 2)


def test_lanes_of_one_file_stay_apart() -> None:
    records = [
        HEADER,
        {"type": "lane", "key": "main", "native_id": "s"},
        {"type": "message", "role": "user", "content": "a"},
        {"type": "lane", "key": "sub", "kind": "subagent", "parent_key": "main"},
        {"type": "message", "role": "user", "content": "b"},
    ]
    first, second = read(IMPORTER, jsonl(records)).lanes
    assert (first.lane.native_id, second.lane.kind, second.lane.parent_key) == ("s", "subagent", "main")
    assert (first.lane.record_numbers, second.lane.record_numbers) == ((2, 3), (4, 5))
    assert [message.seq for message in second.messages] == [1]


def test_hostile_text_comes_back_literally() -> None:
    text = "<script>\u2028\u0000\u202e'\"</script>"
    source = read(IMPORTER, jsonl([HEADER, {"type": "message", "role": "user", "content": text}, {"type": "call"}]))
    again = read(IMPORTER, written(source.only))
    assert again.only.view(1) == source.only.view(1) == [text.replace("\0", "␀")]
    lone = read(
        IMPORTER, b'{"format":"ctxweb.message_list","version":1}\n{"type":"message","role":"user","content":"a\\ud800b"}\n{"type":"call"}\n'
    )
    assert lone.only.view(1) == ["a\ufffdb"]


BAD: list[tuple[list[Any], str]] = [
    ([{"type": "message", "role": "boss", "content": "a"}], "Line 2, field role: must be one of system"),
    ([{"type": "message", "content": "a"}], "Line 2, field role: must be one of"),
    ([{"type": "message", "role": "user", "blocks": [{"kind": "text"}]}], "Line 2, field blocks[0].text: is missing"),
    ([{"type": "message", "role": "user", "content": 5}], "Line 2, field content: must be a text"),
    ([{"type": "message", "role": "user", "content": "a", "seq": 3}], "Line 2, field seq: is 3 where 1 is due"),
    ([{"type": "message", "role": "user", "content": "a", "colour": 1}], "Line 2, field colour: is not a field of this record"),
    ([{"type": "call", "usage": {"input_tokens": -1}}], "Line 2, field usage.input_tokens: must be an integer"),
    ([{"type": "call", "n": 2}], "Line 2, field n: is 2 where 1 is due"),
    ([{"type": "show", "seqs": [1]}], "Line 2, field seqs: names message 1"),
    ([{"type": "show", "seqs": "1"}], "Line 2, field seqs: must be a list"),
    ([{"type": "compaction", "mechanism": "magic"}], "Line 2, field mechanism: must be one of"),
    ([{"type": "compaction", "mechanism": "clear", "edits": [{"verb": "remove", "takes": ["1.1"]}]}], "edits[0].takes: names block 1.1"),
    ([{"type": "compaction", "mechanism": "clear", "edits": [{"verb": "remove", "takes": ["one"]}]}], "edits[0].takes: must be a block id"),
    ([{"type": "party"}], "Line 2, field type: must be one of message"),
    ([7], "Line 2, field the record: must be a JSON object"),
]


@pytest.mark.parametrize(("records", "told"), BAD, ids=[told[:50] for _, told in BAD])
def test_a_field_that_cannot_be_read_ends_the_import_and_is_named(records: list[Any], told: str) -> None:
    with pytest.raises(BadField) as raised:
        read(IMPORTER, jsonl([HEADER, *records]))
    assert told in str(raised.value)
    assert raised.value.code == "bad_field"


def test_a_later_version_is_refused_by_its_number() -> None:
    with pytest.raises(BadField, match="field version: is 2; this program reads version 1"):
        read(IMPORTER, jsonl([{**HEADER, "version": 2}]))


def test_a_broken_line_costs_itself_where_no_number_follows_it() -> None:
    source = read(IMPORTER, jsonl([HEADER, {"type": "message", "role": "user", "content": "a"}]) + b'{"type":"mess')
    assert (dict(source.verdicts), len(source.only.messages)) == ({"ok": 2, "truncated_tail": 1}, 1)


def bare(*messages: Record) -> SourceReading:
    return read(IMPORTER, jsonl(messages))


def test_a_bare_list_is_read_with_the_usage_of_its_answers() -> None:
    answer = {"role": "ai", "content": "b", "usage": {"input_tokens": 7, "output_tokens": 2}}
    source = bare({"role": "human", "content": "a"}, answer, {"role": "human", "content": "c"})
    assert dict(source.verdicts) == {"ok": 3}
    assert (source.only.view(1), source.only.usage("input_tokens"), len(source.only.calls)) == (["a"], 7, 1)
    assert [message.role for message in source.only.messages] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    ("records", "score"),
    [
        ([HEADER], 1.0),
        ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "usage": {"input_tokens": 1}}], 0.6),
        ([{"role": "human", "content": "a"}, {"role": "ai", "content": "b"}], 0.5),
        ([{"role": "user", "content": "a", "ts": 1}], 0.0),
        ([{"hello": "world"}], 0.0),
    ],
)
def test_it_is_recognised_by_its_header_and_else_leaves_lists_to_those_who_know_them(records: list[Record], score: float) -> None:
    assert IMPORTER.sniff(head_of(jsonl(records))) == score
