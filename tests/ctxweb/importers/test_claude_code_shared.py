"""The figures of every shared Claude Code file and case, and the prompts of the shared sessions."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from compaction.history import view_at
from tests.ctxweb.importers.claude_code_objects import FoldedLane, lanes_of, objects_of
from tests.shared import SHARED, needs_shared
from tests.view_oracles import ORACLES

pytestmark = [needs_shared, pytest.mark.nodb]

CORPUS, CASES = SHARED / "corpus", SHARED / "cases"


def rows(index: Path) -> list[dict[str, Any]]:
    lines = index.read_text(encoding="utf-8").splitlines() if index.is_file() else []
    return [row for row in map(json.loads, lines) if row["format"] == "claude_code"]


@cache
def program(path: Path) -> ModuleType:
    """A program of the shared folder as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def session(name: str) -> tuple[FoldedLane, ...]:
    return tuple(lanes_of(CORPUS / "claude_code" / f"{name}.jsonl"))


def corpus_rows() -> list[Any]:
    return [pytest.param(row, id=row["file"].partition("/")[2]) for row in rows(CORPUS / "index.jsonl")]


def case_rows() -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in rows(CASES / "index.jsonl") if row["check"] == "import"]


@pytest.mark.parametrize("row", corpus_rows())
def test_a_corpus_file_has_its_known_figures(row: dict[str, Any]) -> None:
    expected = row["expected"]
    got = program(CORPUS / "check_import.py").merge(objects_of([CORPUS / row["file"]]))
    for name in ("records", "model_calls", "tool_calls", "tool_results", "images", "peak_context"):
        if name in expected:
            assert got[name] == expected[name], name
    for part in ("usage", "verdicts"):
        assert {name: got[part][name] for name in expected.get(part, {})} == expected.get(part, {})
    recorded = [item for item in got["compactions"] if item["origin"] == "recorded"]
    assert len(recorded) == len(expected["compactions"])
    for item, wanted in zip(recorded, expected["compactions"], strict=True):
        assert {name: item[name] for name in wanted} == wanted


@pytest.mark.parametrize("case", case_rows())
def test_a_case_gives_what_it_must(case: dict[str, Any], tmp_path: Path) -> None:
    checker, builder = program(CASES / "check_cases.py"), program(CASES / "build_case.py")
    last = case["steps"][-1] if case.get("steps") else None
    source = CASES / case["file"] / last["file"] if last else builder.build(case, tmp_path, CASES)
    paths = sorted(path for path in source.rglob("*") if path.is_file()) if source.is_dir() else [source]
    expected = json.loads(json.dumps((last or case)["expected"]))
    for wanted in expected["sessions"]:
        wanted.pop("status", None)
    assert checker.judge(expected, expected.get("exit", 0), objects_of(paths)) == []


@pytest.mark.parametrize("name", ORACLES)
def test_the_prompt_of_a_call_holds_the_tool_calls_that_its_path_holds(name: str) -> None:
    (folded,) = session(name)
    for oracle in ORACLES[name].split(" · "):
        place, _, figures = oracle.partition(": ")
        n, line = map(int, place.split("@"))
        calls, results, cleared = (*map(int, figures.split("/")), 0, 0)[:3]
        assert folded.history.calls[n - 1].line == line
        assert _tools_in_view(folded, n) == (calls, results, cleared), oracle


def _tools_in_view(folded: FoldedLane, n: int) -> tuple[int, int, int]:
    spans = view_at(folded.history, n)
    blocks = {block.id: block for message in folded.messages for block in message.blocks}
    found = [(span.kind, blocks[span.block].tool_id, span.state) for span in spans]
    uses = {tool_id for kind, tool_id, _ in found if kind == "tool_use"}
    results = {tool_id for kind, tool_id, _ in found if kind == "tool_result"}
    cleared = {tool_id for _, tool_id, state in found if state == "cleared"}
    return len(uses), len(results), len(cleared)
