"""Whatever stands in a record, a reader judges it and goes on: no value of any shape ends an import or breaks the fold."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxweb.importers import anthropic_messages, codex, message_list, openai_messages
from ctxweb.importers.base import Importer
from tests.ctxweb.importers.readings import SAMPLES, head_of, jsonl, read

ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    2**60,
    "",
    "x",
    [],
    ["x"],
    {},
    {"type": "text"},
    {"type": ["list"]},
    [[]],
    [{}],
    [None],
    {"role": {}},
]

LOGS: dict[str, tuple[Importer, list[Any]]] = {
    "codex": (codex.IMPORTER, [json.loads(line) for line in (SAMPLES / "codex_rollout.jsonl").read_text().splitlines()]),
    "openai_list": (openai_messages.IMPORTER, json.loads((SAMPLES / "openai_chat_messages.json").read_text())["messages"]),
    "openai_log": (
        openai_messages.IMPORTER,
        [
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}], "tools": [{}], "model": "m",
             "response": {"id": "r", "choices": [{"message": {"role": "assistant", "content": "b", "tool_calls": [
                 {"id": "c", "function": {"name": "f", "arguments": "{}"}}]}}], "usage": {"prompt_tokens": 5}}},
            {"request": {"input": [{"role": "user", "content": "a"}, {"type": "function_call", "call_id": "c", "name": "f"},
                                   {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "r"}]}]},
             "response": {"object": "response", "id": "q", "output": [{"type": "reasoning", "summary": [{"text": "t"}]}]}},
            json.loads((SAMPLES / "openai_responses_compact.json").read_text()),
        ],
    ),
    "anthropic_log": (
        anthropic_messages.IMPORTER,
        [
            json.loads((SAMPLES / "anthropic_messages.json").read_text()),
            json.loads((SAMPLES / "anthropic_response.json").read_text()),
            {"request": {"messages": [{"role": "user", "content": "a"}], "system": [{"type": "text", "text": "s"}],
                         "context_management": {"edits": [{"type": "clear_tool_uses_20250919", "keep": {"value": 1}}]}},
             "response": {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "b"}],
                          "usage": {"input_tokens": 1}}},
        ],
    ),
    "bare_list": (message_list.IMPORTER, [{"role": "human", "content": "a"}, {"role": "ai", "content": "b", "usage": {"input_tokens": 1}}]),
}  # fmt: skip


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(path for key, item in inner for path in paths(item, (*here, key)))]


def with_value(records: list[Any], path: tuple[Any, ...], value: Any) -> list[Any]:
    changed = copy.deepcopy(records)
    target: Any = changed
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return changed


@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=150)
@given(data=st.data())
def test_a_value_of_any_shape_in_any_place_is_read(name: str, data: st.DataObject) -> None:
    importer, records = LOGS[name]
    for _ in range(data.draw(st.integers(1, 3))):
        places = [path for path in paths(records) if path]
        records = with_value(records, data.draw(st.sampled_from(places)), data.draw(st.sampled_from(ODD)))
    raw = jsonl(records)
    importer.sniff(head_of(raw))
    source = read(importer, raw)
    assert sum(source.verdicts.values()) == len(records)
