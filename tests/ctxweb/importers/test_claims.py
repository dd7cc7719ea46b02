"""Which format takes which source: each its own, and nobody takes a source whose format cannot be read."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from ctxweb.importers import IMPORTERS, recognise
from ctxweb.importers.physical import EmptySource, ReadLimits, open_stream, read_head
from tests.ctxweb.importers.readings import SAMPLES
from tests.shared import SHARED, needs_shared

CORPUS = SHARED / "corpus"
KNOWN = {importer.id for importer in IMPORTERS}

OWN_SAMPLES = {
    "claude_code.jsonl": "claude_code",
    "claude_code_subagent.jsonl": "claude_code",
    "codex_rollout.jsonl": "codex",
    "dsh_session.jsonl": "dsh",
    "anthropic_messages.json": "anthropic_messages",
    "anthropic_response.json": "anthropic_messages",
    "openai_chat_messages.json": "openai_messages",
    "openai_responses_compact.json": "openai_messages",
}
RELATIVES = {"iflow": "claude_code"}
"""Formats that write the records of another one."""


def claimed(path: Path) -> set[str | None]:
    """The formats of what a file holds; None for a member that no format recognises."""
    limits = ReadLimits()
    heads = (read_head(member.open, limits=limits) for member in open_stream(path, limits=limits).members)
    found = {recognise(head) for head in heads}
    return {None if importer is None else importer.id for importer in found}


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_a_sample_of_ours_is_taken_by_its_own_format(path: Path) -> None:
    assert claimed(path) == {OWN_SAMPLES[path.name]}


@needs_shared
@pytest.mark.parametrize("path", sorted((CORPUS / "samples").glob("*")), ids=lambda path: path.name)
def test_a_shared_sample_is_taken_by_its_own_format_or_by_none(path: Path) -> None:
    assert claimed(path) == {OWN_SAMPLES.get(path.name)}


@needs_shared
def test_a_real_session_is_taken_by_its_own_format_or_by_none() -> None:
    wrong = {}
    for row in map(json.loads, (CORPUS / "index.jsonl").read_text().splitlines()):
        own = RELATIVES.get(row["format"], row["format"])
        expected = {own} if own in KNOWN else {None}
        found = claimed(CORPUS / row["file"])
        if found != expected:
            wrong[row["file"]] = found
    assert wrong == {}


@needs_shared
def test_what_is_no_session_is_taken_by_none() -> None:
    for path in sorted((SHARED / "cases" / "import").glob("import-nothing-usable-*")):
        with contextlib.suppress(EmptySource):
            assert claimed(path) == {None}, path.name
