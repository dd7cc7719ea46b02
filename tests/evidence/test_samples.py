"""Each sample of a format gives what a reader of the file counts in it: every record is understood, nothing is made up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ctxweb.models import Session
from ctxweb.services.session_import import session_import
from tests.evidence.homes import shared_home

pytestmark = pytest.mark.django_db

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "samples"


class Compacted(NamedTuple):
    line: int
    origin: str
    mechanism: str
    tokens_before: int | None
    tokens_after: int | None


class Expected(NamedTuple):
    """What stands in a sample. `messages` counts records of a message as logged, `calls` distinct calls of the model."""

    format: str
    lane: str
    records: int
    messages: int
    calls: int
    tools: tuple[int, int]
    compactions: tuple[Compacted, ...]


SAMPLES = {
    # 1 user, 3 lines of one call, 2 results, the summary, 1 answer; a boundary at line 9 and a micro one at line 12
    "claude_code.jsonl": Expected("claude_code", "main", 14, 8, 2, (2, 2), (
        Compacted(9, "recorded", "summary", 155_025, 9_000), Compacted(12, "recorded", "clear_tool_result", 60_000, 39_000))),
    # 1 user, 1 answer, of an agent below another session
    "claude_code_subagent.jsonl": Expected("claude_code", "subagent", 2, 2, 1, (0, 0), ()),
    # the instructions in session_meta; developer, user, reasoning, call, output, answer; two token counts; two compacted lines,
    # of which neither says a size: 1,560 are the total that the last count before them told, 700 the prompt of the call behind
    "codex_rollout.jsonl": Expected("codex", "main", 16, 7, 2, (1, 1), (
        Compacted(11, "recorded", "summary", 1_560, 700), Compacted(12, "recorded", "remote_opaque", 1_560, 700))),
    # system, user, assistant that calls a tool, its result
    "openai_chat_messages.json": Expected("openai_messages", "main", 1, 4, 1, (1, 1), ()),
    # the output of a compaction of 120,000 tokens: a user message and the encrypted item
    "openai_responses_compact.json": Expected("openai_messages", "main", 1, 2, 0, (0, 0), (
        Compacted(1, "recorded", "remote_opaque", 120_000, None),)),
    # user, call, result, and as fourth message an answer that begins with a compaction block
    "anthropic_messages.json": Expected("anthropic_messages", "main", 1, 4, 2, (1, 1), (
        Compacted(4, "recorded", "summary", None, None),)),
    # one response: two applied edits and a compaction block, and 23,000 tokens of prompt behind them
    "anthropic_response.json": Expected("anthropic_messages", "main", 1, 1, 1, (0, 0), (
        Compacted(1, "recorded", "clear_tool_result", None, 23_000), Compacted(1, "recorded", "clear_thinking", None, 23_000),
        Compacted(1, "recorded", "summary", None, 23_000))),
    # user, call, its result and the summary; the result is pruned at line 10, and line 13 tells of the summary: the prices are dsh's own
    "dsh_session.jsonl": Expected("dsh", "main", 16, 4, 1, (1, 1), (
        Compacted(10, "recorded", "prune_head_tail", 3_010, 24), Compacted(13, "recorded", "summary", 969, None))),
}  # fmt: skip


@pytest.fixture(scope="module")
def told(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[Any]]]:
    """What the import of each sample says."""
    with shared_home(blocker=django_db_blocker, root=tmp_path_factory.mktemp("samples")):
        with django_db_blocker.unblock():
            made = {name: session_import(name=name, path=FIXTURES / name).objects() for name in SAMPLES}
        yield made


def test_every_sample_has_its_row() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_imported_with_every_record_ok_and_the_counts_of_its_reader(name: str, told: dict[str, list[Any]]) -> None:
    (one,) = told[name]
    expected = SAMPLES[name]
    assert (one["status"], one["error"], one["format"], one["lane"]) == ("imported", None, expected.format, expected.lane)
    assert (one["records"], one["verdicts"]) == (expected.records, {"ok": expected.records})
    assert (one["messages"], one["model_calls"]) == (expected.messages, expected.calls)
    assert (one["tool_calls"], one["tool_results"]) == expected.tools
    assert tuple(Compacted(*(row[field] for field in Compacted._fields)) for row in one["compactions"]) == expected.compactions
    assert [row["index"] for row in one["compactions"]] == list(range(1, len(expected.compactions) + 1))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_stored_session_has_the_same_counts(name: str, told: dict[str, list[Any]]) -> None:
    session, expected = Session.objects.get(public_id=told[name][0]["session"]), SAMPLES[name]
    assert (session.record_count, session.verdicts) == (expected.records, {"ok": expected.records})
    assert (session.messages_logged, session.call_count) == (expected.messages, expected.calls)
    assert session.recorded_compactions + session.inferred_drops == len(expected.compactions)
