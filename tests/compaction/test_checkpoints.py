"""Marks of compaction in bare messages."""

from __future__ import annotations

import json
import re

import pytest

from compaction.checkpoints import MARKS, Where, is_checkpoint, recognise, result_state, result_verb
from tests.shared import SHARED, needs_shared

KINDS = {
    "truncated": "truncated",
    "pruned": "truncated",
    "summary": "checkpoint",
    "summary_ack": "acknowledgement",
    "snipped": "hidden",
    "earlier_result_compacted": "cleared",
    "earlier_result_saved": "cleared",
    "persisted_output": "spilled",
    "spilled": "spilled",
    "compacted": "checkpoint",
    "compacted_v2": "checkpoint",
    "reactive_compact": "checkpoint",
    "compact_tool_answer": "acknowledgement",
    "checkpoint": "checkpoint",
    "checkpoint_open": "checkpoint",
    "checkpoint_close": "checkpoint",
}


@needs_shared
def test_every_mark_that_a_published_system_writes_is_recognised_with_its_figures() -> None:
    markers = json.loads((SHARED / "conformance" / "markers.json").read_text())["markers"]
    for marker in (marker for marker in markers if "template" in marker):
        written = re.sub(
            r"\{(\w+)\}", lambda name: "12" if re.search("chars|bytes|messages", name[1]) else f"some {name[1]}", marker["template"]
        )
        if "prefix" in marker["where"]:
            written += "the rest"
        elif "suffix" in marker["where"] or marker["kind"] == "pruned":
            gap = "\n\n" if marker["kind"] == "spilled" else ""
            written = f"what was kept{gap}{written}{'its end' if marker['kind'] == 'pruned' else ''}"
        found = recognise(written, "result" if "result" in marker["where"] else "message")
        assert found is not None, marker
        assert found.mark.kind == KINDS[marker["kind"]], marker


def _written(regex: str) -> str:
    """A text that the regular expression of a mark describes."""
    text = re.sub(r"\(\?:[^()]*\)\??", "", regex.removeprefix("^").removesuffix("$"))
    for group, example in ((r"(\d+)", "12"), (r"(.+?)", "some/path"), (r"(.+)", "some thing"), (r"([\s\S]*)", "some\ntext")):
        text = text.replace(group, example)
    text = re.sub(r"\((\w[^|()]*)\|[^()]*\)", r"\1", text)
    return re.sub(r"\\(.)", lambda escaped: {"n": "\n"}.get(escaped[1], escaped[1]), text)


@needs_shared
def test_every_mark_of_the_file_is_recognised_in_all_its_versions() -> None:
    markers = json.loads((SHARED / "conformance" / "markers.json").read_text())["markers"]
    assert len(markers) >= 24
    for marker in markers:
        written = _written(marker["regex"])
        assert re.search(marker["regex"], written), (marker["regex"], written)
        where: Where = "result" if "result" in marker["where"] else "message"
        found = recognise(written, where)
        assert found is not None, marker
        assert found.mark.kind == KINDS[marker["kind"]], marker
        assert found.mark.system == {"course09": "dsh"}.get(marker["system"], marker["system"]), marker


def test_the_newer_summary_of_s08_names_its_archive() -> None:
    parts = [
        "[Reactive compact]",
        "Current user request:\nGo on",
        'Conversation summary (reference only):\n"S"',
        "Full transcript: a/t.jsonl",
    ]
    text = "\n\n".join(parts)
    found = recognise(text, "message")
    assert found is not None
    assert found.figures == {"how": "Reactive compact", "path": "a/t.jsonl"}


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("plain output", "whole"),
        ("[cleared]", "cleared"),
        ("[Old tool result content cleared]", "cleared"),
        ("<persisted-output>\nOutput too large (4.8MB). Full output saved to: /a/b.txt\n\nPreview (first 2KB):\nx", "spilled"),
        ("head\n\n[... tool result middle pruned ...]\n\ntail", "truncated"),
        ("start…1234 tokens truncated…end", "truncated"),
        ("a\n\n[... 已截断: 原始 900 字符, 保留 100 字符 ...]", "truncated"),
        ("the file says [cleared] here", "whole"),
        (
            "told\n\n(Omitted 5 bytes. Full formatted result stored at: a. b) and more",
            "whole",
        ),
        ("", "whole"),
    ],
)
def test_a_tool_result_shows_its_state(text: str, state: str) -> None:
    assert result_state(text) == state


def test_a_spilled_result_names_the_file_that_holds_it() -> None:
    found = recognise("cut\n\n(Omitted 500 bytes. Full formatted result stored at: run/7.txt. Read it with cat.)", "result")
    assert found is not None
    assert found.figures == {"omitted_bytes": "500", "path": "run/7.txt"}


@pytest.mark.parametrize(
    "text",
    [
        "This session is being continued from a previous conversation that ran out",
        "Earlier.\n\n<compacted-summary>\nall of it\n</compacted-summary>",
        "[snipped 12 messages]",
        "[对话摘要]\n做了什么",
    ],
)
def test_a_summary_is_a_checkpoint(text: str) -> None:
    assert is_checkpoint(text)


def test_talking_about_a_summary_makes_no_checkpoint() -> None:
    assert not is_checkpoint("Why does it say: This session is being continued from a previous conversation?")


def test_what_happened_to_a_result_follows_from_its_mark_or_its_size() -> None:
    assert result_verb("[cleared]", 900) == "clear"
    assert result_verb("short", 900) == "truncate"
    assert result_verb("another text", 3) == "replace"


@pytest.mark.parametrize(
    "piece", ["\n\n(Omitted 1 bytes. Full formatted result stored at: ", "\n\n[... ", "…1", "[Earlier tool result saved at "]
)
def test_a_hostile_text_holds_no_mark_and_ends(piece: str) -> None:
    assert recognise(piece * 50_000, "result") is None


def test_each_mark_names_a_system_and_an_edge() -> None:
    assert {mark.edge for mark in MARKS} == {"start", "end", "whole", "inside"}
    assert all(mark.system for mark in MARKS)
