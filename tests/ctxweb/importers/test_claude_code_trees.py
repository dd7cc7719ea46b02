"""Trees of records at random: the views that moves make are those that rule 1.1 of the analysis gives, call by call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxweb.importers.claude_code import IMPORTER
from tests.ctxweb.importers.claude_code_records import Record, answer, boundary, record, result, summary, text, use, user
from tests.ctxweb.importers.readings import SAMPLES, LaneReading, head_of, jsonl, read
from tests.ctxweb.importers.test_odd_values import ODD, paths, with_value

pytestmark = pytest.mark.nodb

KINDS = ("user", "answer", "line", "result", "progress", "compaction")
LOG = [json.loads(line) for line in (SAMPLES / "claude_code.jsonl").read_text().splitlines()]
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 11)), min_size=1, max_size=40)


@dataclass
class Written:
    """Records of a made-up tree; ids are places."""

    records: list[Record] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)

    def parent(self, choice: int) -> str | None:
        """Mostly the last record, sometimes an earlier one, one outside the file, or none."""
        if not self.records or choice == 0:
            return None
        if choice == 1:
            return "outside"
        return self.uuid(-1 if choice < 8 else -((choice - 6) % len(self.records)) - 1)

    def uuid(self, place: int) -> str:
        return str(self.records[place]["uuid"])

    def write(self, kind: str, choice: int) -> None:
        uuid, parent = f"r{len(self.records)}", self.parent(choice)
        if kind == "answer":
            self.tools.append(f"t{len(self.tools)}")
            self.records.append(answer(uuid, parent, f"m{uuid}", use(self.tools[-1], "Bash", n=uuid)))
        elif kind == "line" and self.records and self.records[-1]["type"] == "assistant":
            self.records.append(answer(uuid, self.uuid(-1), self.records[-1]["message"]["id"], text(f"more {uuid}")))
        elif kind == "result" and self.tools:
            self.records.append(result(uuid, parent, self.tools[choice % len(self.tools)], f"result {uuid}"))
        elif kind == "compaction" and self.records:
            self.records.append(boundary(uuid, self.uuid(-1)))
            self.records.append(summary(f"s{uuid}", uuid, f"summary {uuid}"))
        elif kind == "progress":
            self.records.append(record("progress", uuid, parent, data={"n": uuid}))
        else:
            self.records.append(user(uuid, parent, f"text {uuid}"))


def tree(steps: list[tuple[str, int]]) -> list[Record]:
    written = Written()
    for kind, choice in steps:
        written.write(kind, choice)
    return written.records


def call_of(one: Record) -> str | None:
    return one["message"]["id"] if one["type"] == "assistant" else None


def blocks_of(one: Record) -> list[Record]:
    content = one["message"]["content"]
    return content if isinstance(content, list) else [text(content)]


def ancestors(records: list[Record], place: int) -> Iterator[int]:
    """By rule 1.1: the named parent, else the record before where the name is not in the file; a boundary has none."""
    places = {one["uuid"]: index for index, one in reversed(list(enumerate(records)))}
    while True:
        parent = records[place]["parentUuid"]
        if parent is None:
            return
        place = places.get(parent, place - 1)
        if place < 0:
            return
        yield place


def plain_view(records: list[Record], place: int) -> set[str]:
    """The texts in the prompt of the call whose first line is at `place`."""
    chain = list(ancestors(records, place))
    root = chain[-1] if chain else place
    is_boundary = bool(chain) and records[root]["type"] == "system"
    chain += [root + 1] if is_boundary else []
    calls = {call_of(records[index]) for index in chain if records[index]["type"] == "assistant"}
    stems = {index for index, one in enumerate(records) if call_of(one) in calls and one["type"] == "assistant"}
    stems |= {index for index in chain if records[index]["type"] == "user"}
    return {words(block) for index in stems | beside(records, stems, place) for block in blocks_of(records[index])}


def beside(records: list[Record], stems: set[int], before: int) -> set[int]:
    """The first result of each call on the chain that has none there."""
    uses = {block["id"] for index in stems for block in blocks_of(records[index]) if block["type"] == "tool_use"}
    answered = {tool for index in stems for tool in results_of(records[index])}
    firsts: dict[str, int] = {}
    for index, one in enumerate(records):
        for tool in results_of(one):
            firsts.setdefault(tool, index)
    return {index for tool, index in firsts.items() if tool in uses - answered and index < before}


def results_of(one: Record) -> list[str]:
    return [block["tool_use_id"] for block in blocks_of(one) if block["type"] == "tool_result"] if one["type"] == "user" else []


def words(block: Record) -> str:
    if block["type"] == "tool_use":
        return f'{{"n":"{block["input"]["n"]}"}}'
    return str(block.get("text") or block.get("content"))


def check_views(records: list[Record], folded: LaneReading) -> None:
    for call in folded.history.calls:
        view = folded.view(call.n)
        assert len(view) == len(set(view))
        assert set(view) == plain_view(records, call.line - 1)


@given(STEPS)
def test_the_view_of_each_call_is_that_of_its_ancestors_their_calls_and_their_results(steps: list[tuple[str, int]]) -> None:
    records = tree(steps)
    folded = read(IMPORTER, jsonl(records)).only
    check_views(records, folded)


@given(STEPS)
def test_a_lane_balances_and_loses_no_record(steps: list[tuple[str, int]]) -> None:
    records = tree(steps)
    folded = read(IMPORTER, jsonl(records)).only
    assert sum(message.records for message in folded.messages) == sum(one["type"] in ("user", "assistant") for one in records)
    for event in folded.history.compactions:
        assert event.estimate_before - event.removed + event.added == event.estimate_after
    for call in folded.history.calls:
        assert call.previous is None or call.previous < call.n


@given(STEPS, st.randoms(use_true_random=False))
def test_records_in_any_order_are_read_to_the_end(steps: list[tuple[str, int]], random: object) -> None:
    records = tree(steps)
    random.shuffle(records)  # type: ignore[attr-defined]
    folded = read(IMPORTER, jsonl(records)).only
    assert sum(message.records for message in folded.messages) == sum(one["type"] in ("user", "assistant") for one in records)


@given(STEPS, st.integers(1, 40))
def test_what_was_read_of_a_file_stays_when_it_grows(steps: list[tuple[str, int]], count: int) -> None:
    records = tree(steps)
    before, after = (read(IMPORTER, jsonl(part)).only for part in (records[:count], records))
    assert before.lane.key == after.lane.key
    assert [message.line for message in before.messages] == [message.line for message in after.messages[: len(before.messages)]]
    assert [call.line for call in before.history.calls] == [call.line for call in after.history.calls[: len(before.history.calls)]]


@settings(max_examples=300)
@given(data=st.data())
def test_a_value_of_any_shape_in_any_place_is_read(data: st.DataObject) -> None:
    records = LOG
    for _ in range(data.draw(st.integers(1, 3))):
        places = [path for path in paths(records) if path]
        records = with_value(records, data.draw(st.sampled_from(places)), data.draw(st.sampled_from(ODD)))
    raw = jsonl(records)
    IMPORTER.sniff(head_of(raw))
    assert sum(read(IMPORTER, raw).verdicts.values()) == len(records)
