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

pytestmark = [needs_shared, pytest.mark.nodb]

CORPUS, CASES = SHARED / "corpus", SHARED / "cases"

VIEWS = {
    # session: call@line: distinct tool calls / results in its prompt / of them cleared by micro-compaction
    "codemie-ai__codemie-code__conv-c3a574c5": "52@173: 64/64",
    "entireio__cli__23-72de7ea2ff-0": "108@426: 128/128 · 109@434: 0/0 · 118@467: 9/9",
    "entireio__cli__25-730c662552-0": "67@344: 77/77 · 68@376: 0/0 · 123@784: 80/80 · 124@805: 0/0 · 169@1025: 46/46",
    "entireio__cli__37-995ebed6e4-2": "42@168: 41/41",
    "entireio__cli__68-60e2316a8a-0": "35@141: 38/38",
    "entireio__cli__86-9d11344fce-1": "68@361: 73/73 · 69@418: 0/0 · 76@460: 12/12",
    "entireio__cli__8c-fa910f8ef9-5": "56@219: 24/24",
    "entireio__cli__91-b42542f24f-0": "36@264: 67/67 · 37@274: 0/0 · 50@364: 17/17",
    "entireio__cli__9b-04c3d92e38-4": "74@363: 94/94 · 75@372: 0/0 · 94@535: 21/21",
    "entireio__cli__b0-dc55b3a1dc-1": "44@212: 53/53 · 45@216: 54/54/9 · 74@347: 77/77/9 · 75@353: 78/78/27 · 100@480: 97/97/27 · "
    "101@487: 0/0 · 131@719: 30/30",
    "entireio__cli__b6-f735fbac66-0": "123@423: 117/117 · 124@428: 0/0 · 208@764: 96/96 · 209@769: 0/0 · 219@810: 9/9",
    "entireio__cli__bc-cb77bb88fa-1": "72@343: 56/56 · 73@351: 0/0 · 133@637: 69/69 · 134@644: 0/0 · 198@993: 67/67",
    "entireio__cli__f5-dab3d95bc1-0": "97@533: 93/93 · 98@541: 0/0 · 134@751: 44/44 · 135@767: 0/0 · 223@1158: 80/80",
    "entireio__cli__fc-99c919b212-0": "112@574: 99/99 · 113@580: 0/0 · 134@745: 27/27",
}


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


@pytest.mark.parametrize("name", VIEWS)
def test_the_prompt_of_a_call_holds_the_tool_calls_that_its_path_holds(name: str) -> None:
    (folded,) = session(name)
    for oracle in VIEWS[name].split(" · "):
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
