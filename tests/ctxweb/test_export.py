"""A session that is exported and imported again shows the same at every call."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from ctxweb.models import Block, Compaction, Finding, LedgerEntry, Message, ModelCall, Session, Span
from ctxweb.services.session_export import session_export
from ctxweb.services.session_import import session_import
from tests.ctxweb.importers.readings import SAMPLES
from tests.shared import SHARED, needs_shared

pytestmark = pytest.mark.django_db(transaction=True)

EQUAL_COLUMNS: dict[Any, tuple[str, ...]] = {
    Message: ("seq", "role", "origin", "records", "native_id", "at", "model", "call", "label", "visible", "inherited", "abandoned",
              "flags"),
    Block: ("seq", "i", "kind", "body_id", "state", "tokens", "estimate", "tool_id", "tool_name", "path", "pointer", "media_type",
            "media_bytes", "signature_chars", "is_error", "first_call", "last_call", "end", "flags"),
    ModelCall: ("n", "seq", "native_id", "model", "at", "previous", "abandoned", "inherited", "input_tokens", "cache_write_tokens",
                "cache_read_tokens", "output_tokens", "prompt_tokens", "context_window", "estimate", "block_count", "kinds", "fidelity",
                "unexplained", "flags"),
    Finding: ("ordinal", "code", "seq", "detail"),
}  # fmt: skip
EQUAL_HISTORY: dict[Any, tuple[str, ...]] = {
    Compaction: ("ordinal", "index", "before_call", "origin", "mechanism", "layer", "trigger", "status", "scale", "tokens_before",
                 "tokens_after", "reported_before", "reported_after", "estimate_before", "removed", "added", "estimate_after", "edits"),
    LedgerEntry: ("ordinal", "verb", "seq", "i", "adds", "state_before", "state_after", "tokens_before", "tokens_after", "never_sent"),
    Span: ("seq", "i", "state", "from_call", "to_call", "estimate", "tokens", "body"),
}  # fmt: skip
EQUAL_FIGURES = ("messages_logged", "message_count", "block_count", "call_count", "tool_calls", "tool_results", "images", "input_tokens",
                 "cache_write_tokens", "cache_read_tokens", "output_tokens", "peak_context", "recorded_compactions", "inferred_drops",
                 "findings", "title", "cwd", "git_branch", "model", "producer", "producer_version", "context_window", "lane")  # fmt: skip


def imported(source: Path | bytes, name: str = "source") -> list[Session]:
    given: dict[str, Any] = {"stream": io.BytesIO(source)} if isinstance(source, bytes) else {"path": source}
    told = session_import(name=name, **given).objects()
    assert {each["status"] for each in told} == {"imported"}, told
    return [Session.objects.get(public_id=each["session"]) for each in told]


def exported(session: Session, *, with_lanes: bool = False) -> bytes:
    out = io.StringIO()
    session_export(session=session, out=out, with_lanes=with_lanes)
    return out.getvalue().encode()


def rows(model: Any, columns: tuple[str, ...], **where: Any) -> list[tuple[Any, ...]]:
    return list(model.objects.filter(**where).order_by(*columns[:2]).values_list(*columns))


def same(first: Session, again: Session) -> None:
    for model, columns in EQUAL_COLUMNS.items():
        assert rows(model, columns, revision=again.current_id) == rows(model, columns, revision=first.current_id), model.__name__
    for model, columns in EQUAL_HISTORY.items():
        one, other = ({"history__revision": session.current_id} for session in (first, again))
        assert rows(model, columns, **other) == rows(model, columns, **one), model.__name__
    assert [getattr(again, name) for name in EQUAL_FIGURES] == [getattr(first, name) for name in EQUAL_FIGURES]


def round_trip(source: Path | bytes) -> None:
    (first,) = imported(source)
    written = exported(first)
    (again,) = imported(written, "export")
    assert (again.format, again.public_id != first.public_id) == ("message_list", True)
    same(first, again)
    assert exported(again) == written


@pytest.mark.parametrize("path", sorted(path for path in SAMPLES.iterdir() if "claude_code" not in path.name), ids=lambda path: path.name)
def test_an_export_of_a_sample_shows_the_same_when_it_is_imported(path: Path) -> None:
    round_trip(path)


@needs_shared
@pytest.mark.parametrize(
    "name",
    [
        "claude_code/entireio__cli__37-995ebed6e4-2.jsonl",
        "claude_code/entireio__cli__b0-dc55b3a1dc-1.jsonl",
        "codex/codemie-ai__codemie-code__rollout-019e1625.jsonl",
        "codex/jazzyalex__agent-sessions__codex-small.jsonl",
    ],
)
def test_an_export_of_a_real_session_shows_the_same_when_it_is_imported(name: str) -> None:
    round_trip(SHARED / "corpus" / name)


@needs_shared
def test_a_fork_stays_a_fork_and_its_copied_prefix_counts_nowhere_else() -> None:
    folder = SHARED / "cases" / "bugs" / "bugs-05-codex-fork-replay-43ad"
    parent, fork = (imported(path)[0] for path in sorted(folder.iterdir()))
    Session.objects.get(pk=fork.pk).refresh_from_db()
    copies = imported(exported(parent, with_lanes=True), "export")
    assert [copy.lane for copy in copies] == ["main", "fork"]
    same(fork, copies[1])
    assert Session.objects.get(pk=copies[1].pk).parent_id == copies[0].pk


def test_a_session_without_a_model_keeps_the_estimates_of_its_own_format() -> None:
    message = {"role": "user", "content": "word " * 100}
    record = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s1", "timestamp": "2026-08-01T10:00:00Z", "message": message}
    round_trip((json.dumps(record) + "\n").encode())


def test_compactions_that_the_prompts_themselves_show_come_back() -> None:
    """Two requests of a log, the second of which begins with a summary and lost a result."""
    use: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}
    result: dict[str, Any] = {"role": "tool", "tool_call_id": "c", "content": "long " * 50}
    first = [{"role": "user", "content": "a"}, use, result]
    second = [{"role": "user", "content": "Here is a summary of the conversation to date:\n\nb"}, use, {**result, "content": "[cleared]"}]
    answer: dict[str, Any] = {"choices": [{"message": {"role": "assistant", "content": "c"}}], "usage": {"prompt_tokens": 90}}
    log: list[dict[str, Any]] = [{"messages": messages, "response": {**answer, "id": f"r{len(messages)}"}} for messages in (first, second)]
    round_trip("".join(json.dumps(record) + "\n" for record in log).encode())
    assert Compaction.objects.filter(origin="inferred", edits__gt=0).count() == 2


def test_hostile_text_and_lone_surrogates_survive() -> None:
    text = '<script>alert(1)</script>\u2028\u202e" \\'
    lines = [
        {"type": "session_meta", "timestamp": "2026-08-01T10:00:00Z", "payload": {"id": "hostile"}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}},
    ]
    raw = "".join(json.dumps(line) + "\n" for line in lines).replace("alert", "\\ud800alert\\u0000").encode()
    round_trip(raw)


def test_the_command_writes_a_file_once_and_names_what_it_cannot_find(tmp_path: Path) -> None:
    (session,) = imported(SAMPLES / "codex_rollout.jsonl")
    out = tmp_path / "session.jsonl"
    call_command("export_session", session.public_id, "--out", str(out), stderr=io.StringIO())
    assert out.read_bytes() == exported(session)
    printed = io.StringIO()
    call_command("export_session", session.public_id, stdout=printed)
    assert printed.getvalue().encode() == exported(session)
    with pytest.raises(CommandError, match="is there already"):
        call_command("export_session", session.public_id, "--out", str(out))
    with pytest.raises(CommandError, match="There is no session 'nobody'"):
        call_command("export_session", "nobody")
    assert list(tmp_path.iterdir()) == [out]


def test_a_bad_field_fails_the_import_with_its_line_and_leaves_nothing() -> None:
    broken = b'{"format":"ctxweb.message_list","version":1}\n{"type":"message","role":"boss","content":"x"}\n'
    (told,) = session_import(name="broken", stream=io.BytesIO(broken)).objects()
    assert (told["status"], told["error"]["code"]) == ("failed", "bad_field")
    assert "Line 2, field role" in told["error"]["message"]
    assert not Session.objects.exists()
