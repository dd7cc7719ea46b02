"""The docs name every format, verdict, tab and command, and the fields of the JSON that scripts read; their links lead somewhere."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxweb.importers import IMPORTERS
from ctxweb.page import TABS
from ctxweb.queries.fidelity import SessionFidelity
from ctxweb.services.importing.parsing import VERDICTS
from ctxweb.services.importing.report import lane_object
from tests.shared import REPO

pytestmark = pytest.mark.nodb
DOCS = REPO / "docs"
IMPORTING = (DOCS / "importing.md").read_text(encoding="utf-8")
PAGES = [REPO / "README.md", REPO / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]


def first_cells(page: str) -> list[str]:
    return re.findall(r"^\| `?([^|`]+?)`? \|", page, re.MULTILINE)


def test_the_readme_names_every_format() -> None:
    cells = first_cells((REPO / "README.md").read_text(encoding="utf-8"))
    assert {importer.id for importer in IMPORTERS} <= set(cells)


def test_every_verdict_is_explained_and_no_other() -> None:
    assert sorted(set(first_cells(IMPORTING)) - {"verdict", "---"}) == sorted(VERDICTS)


def test_every_tab_is_explained() -> None:
    assert {tab.label for tab in TABS} <= set(first_cells((DOCS / "adding.md").read_text(encoding="utf-8")))


def test_every_command_is_explained() -> None:
    commands = {path.stem for path in (REPO / "ctxweb" / "management" / "commands").glob("[a-z]*.py")}
    assert set(re.findall(r"^\| `manage\.py (\w+)", (DOCS / "operations.md").read_text(encoding="utf-8"), re.MULTILINE)) == commands


@pytest.mark.parametrize(("heading", "made_by"), [("import_sessions", lane_object), ("fidelity", SessionFidelity.as_json)])
def test_the_json_of_a_command_has_the_fields_of_its_page(heading: str, made_by: Callable[..., object]) -> None:
    written = re.findall(r'^ +"(\w+)": ', inspect.getsource(made_by), re.MULTILINE)
    section = IMPORTING.partition(f"## `{heading} --json`")[2].partition("\n## ")[0]
    shown = set(re.findall(r'"(\w+)": ', section))
    assert written
    assert set(written) <= shown


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_between_the_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+\.md)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).is_file()] == []
