"""The docs of the library are tested: their code runs, and no word is missing."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from compaction.counters import COUNTERS
from compaction.messages import BLOCK_KINDS, BLOCK_STATES
from compaction.sources import SCHEMES
from compaction.sources.base import Grammar
from compaction.sources.resolution import STATUSES
from compaction.transcript import Fidelity, LaneKind, Verb
from tests.shared import REPO, SHARED, needs_shared


def test_the_code_of_the_library_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (REPO / "docs" / "library.md").read_text()
    namespace: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(code, "docs/library.md", "exec"), namespace)
    printed = capsys.readouterr().out
    assert "  clear_old_results: 10,566 → 8,216 characters\n  summarise_everything: 8,216 → 355 characters\ncall 5: 1 messages, " in printed
    assert "truncate 3.1: ≈ " in printed
    assert "anthropic: message 3, block 4.1 (tool id b): " in printed
    assert "constraint 1.1: changed no longer denied" in printed
    assert "not in the range: [('docs/release_plan.md',)]\nagainst the facts: ['database denied']" in printed
    assert "Chinese, chars/4 (s14): × 0." in printed


def test_every_module_of_the_library_page_exists() -> None:
    page = (REPO / "docs" / "library.md").read_text()
    for module in set(re.findall(r"`(compaction(?:\.\w+)+)`", page)):
        path = REPO.joinpath(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file(), module


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.id)
def test_every_counter_is_in_the_docs(counter: object) -> None:
    page = (REPO / "docs" / "library.md").read_text()
    assert str(counter.id).replace("chars", "estimate from characters") in page  # type: ignore[attr-defined]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: str(scheme.name))
def test_every_scheme_and_status_of_sources_is_in_the_docs(scheme: Grammar) -> None:
    page = (REPO / "docs" / "library.md").read_text()
    for word in (scheme.name, *STATUSES):
        assert f"| `{word}` |" in page, word


def test_the_glossary_explains_every_kind_verb_and_state_in_use() -> None:
    page = (REPO / "docs" / "glossary.md").read_text()
    for word in (*BLOCK_KINDS, *BLOCK_STATES, *get_args(Verb), *get_args(Fidelity), *get_args(LaneKind)):
        assert f"`{word}`" in page, word


@needs_shared
def test_the_glossary_has_every_word_of_the_architecture() -> None:
    page = (REPO / "docs" / "glossary.md").read_text()
    entries = set(re.findall(r"^\| ([^|]+?) \|", page, re.MULTILINE))
    section = (SHARED / "design" / "architecture.md").read_text().partition("## 2. Words")[2].partition("\n## ")[0]
    words = {word for cell in re.findall(r"^\| ([^|]+?) \|", section, re.MULTILINE) for word in cell.split(", ")} - {"word"}
    assert words
    assert words <= entries
