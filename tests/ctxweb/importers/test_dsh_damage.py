"""Whatever stands in a dsh log, it is read to its end, each record gets one verdict, and every prompt can be shown."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxweb.importers.dsh import IMPORTER
from ctxweb.importers.dsh.reader import UnreadableLog
from tests.ctxweb.importers.dsh_events import HEADER, compaction, event, header, log, numbered, prune, replacing, result, said, usage, user
from tests.ctxweb.importers.readings import jsonl, read

pytestmark = pytest.mark.nodb

LONG, SHORT = "a" * 300, "a\n\n[... tool result middle pruned ...]\n\na"
EVENTS = [
    event("turn/start", {"turn": 1}),
    event("step/start", {"turn": 1, "step": 1}),
    user("a"),
    header("One", [{"name": "bash"}]),
    event("request/context", {"model": "m", "contextWindow": 9}),
    event("assistant/chunk", {"turn": 1, "step": 1, "chunk": {"type": "text-delta", "index": 0, "text": "b"}}),
    event("assistant/chunk", {"turn": 1, "step": 1, "chunk": {"type": "usage", "usage": usage(900)}}),
    said("b", calls=["t"], usage=usage(900), sourceEventSeqs=[5, 6]),
    result("t", LONG, sourceEventSeqs=[7]),
    prune(8, 100),
    result("t", SHORT, **replacing(8, 8, [8])),
    event("request/header-delta", {"system": {"keepStart": 0, "keepEnd": 0, "insert": ["Two"]}}),
    *compaction(2, 10, [2, 7, 10], "S", at=12),
    event("session/title", {"title": "T"}),
    event("assistant/chunk", {"turn": 1, "step": 2, "chunk": {"type": "finish", "reason": {"kind": "error", "failure": {"code": "X"}}}}),
    said("c", usage=usage(100)),
    event("turn/end", {"turn": 1, "reason": {"kind": "completed"}}),
]
LINES = numbered(EVENTS)
SHAPES: list[Any] = [[], {}, [[1]], {"type": "text"}, [{"type": "tool-result", "content": 5}], ["append"], {"op": "replace"}]
NUMBERS = st.one_of(st.integers(-2, 2**60), st.just(10**40), st.floats(allow_nan=False))
ODD = st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=4), st.sampled_from(SHAPES))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, each in inner for found in ((*path, key), *places(each, (*path, key)))]


PLACES = places(LINES)


@st.composite
def damaged(draw: st.DrawFn) -> list[Any]:
    lines: list[Any] = copy.deepcopy(LINES)
    for path in draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3)):
        holder: Any = lines
        try:
            for key in path[:-1]:
                holder = holder[key]
            if draw(st.booleans()):
                holder[path[-1]] = draw(ODD)
            elif isinstance(holder, dict):
                del holder[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue  # what was there is gone already
    return lines


@settings(deadline=None)
@given(damaged())
def test_an_event_of_any_shape_costs_no_other(lines: list[Any]) -> None:
    source = read(IMPORTER, jsonl([HEADER, *lines]))
    assert sum(source.verdicts.values()) == len(lines) + 1
    for lane in source.lanes:
        for call in lane.calls:
            lane.view(call.n)


@given(st.sampled_from(places(HEADER)), ODD)
def test_a_header_of_any_shape_is_read_or_refused(path: tuple[Any, ...], odd: Any) -> None:
    head = {**HEADER, path[0]: odd}
    with suppress(UnreadableLog):
        read(IMPORTER, log(*EVENTS, head=head))


def figures(data: bytes) -> Any:
    reading = read(IMPORTER, data).only
    return [reading.view(call.n) for call in reading.calls], [
        (each.compaction.mechanism, each.edits) for each in reading.history.compactions
    ]


@pytest.mark.parametrize(
    "change", [lambda data: data.replace(b"\n", b"\r\n"), lambda data: b"\xef\xbb\xbf" + data, lambda data: data.rstrip(b"\n")]
)
def test_line_ends_and_marks_change_nothing(change: Any) -> None:
    assert figures(change(log(*EVENTS))) == figures(log(*EVENTS))


@pytest.mark.parametrize("kept", range(2, len(LINES) + 2))
def test_a_beginning_of_a_log_shows_what_the_whole_log_shows_up_to_there(kept: int) -> None:
    lines = log(*EVENTS).splitlines(keepends=True)
    beginning = read(IMPORTER, b"".join(lines[:kept])).only
    whole = read(IMPORTER, b"".join(lines)).only
    assert [beginning.view(call.n) for call in beginning.calls] == [whole.view(call.n) for call in beginning.calls]
    assert [message.seq for message in beginning.messages] == [message.seq for message in whole.messages[: len(beginning.messages)]]


def test_a_cut_last_line_is_a_cut_tail() -> None:
    data = log(*EVENTS)
    source = read(IMPORTER, data[: data.rindex(b"turn/end") + 3])
    assert source.verdicts["truncated_tail"] == 1
    assert json.dumps(figures(data)[0]) == json.dumps([source.only.view(call.n) for call in source.only.calls])
