"""Rules of the house that a look at the source can keep."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shared import REPO

pytestmark = pytest.mark.nodb
CODE = sorted(path for package in ("compaction", "ctxweb") for path in (REPO / package).rglob("*.py") if "migrations" not in path.parts)
SETTINGS_MODULE_DEFAULT = 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxweb.settings")'
REQUEST_MODULES = ("django.http", "django.shortcuts", "django.views", "django.template")
NO_REQUEST = ("django.http.Http404",)  # only says that something is missing
REQUESTLESS = ("services", "queries", "models", "importers")


def name(path: Path) -> str:
    return str(path.relative_to(REPO))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_only_the_settings_read_the_environment() -> None:
    readers = []
    for path in CODE:
        text = path.read_text(encoding="utf-8").replace(SETTINGS_MODULE_DEFAULT, "")
        if "os.environ" in text or "getenv" in text:
            readers.append(name(path))
    assert readers == ["ctxweb/settings.py"]


def test_what_writes_and_reads_knows_no_request() -> None:
    rooms = [path for path in CODE if path.parent.name in REQUESTLESS and path.parts[-3] == "ctxweb"]
    found = [(name(path), module) for path in rooms for module in imported(path) if module.startswith(REQUEST_MODULES)]
    assert [(path, module) for path, module in found if module not in NO_REQUEST] == []


@pytest.mark.parametrize("word", ["csrf_exempt", "mark_safe(", "__html__", " eval(", " exec(", "import pickle"])
def test_a_word_that_opens_a_hole_does_not_occur(word: str) -> None:
    assert [name(path) for path in CODE if word in path.read_text(encoding="utf-8")] == []


def test_no_file_names_a_folder_of_one_machine() -> None:
    texts = [*CODE, *REPO.glob("templates/**/*.html"), *REPO.glob("static/**/*.js"), *REPO.glob("docs/*.md"), REPO / "pyproject.toml"]
    assert [name(path) for path in texts if str(REPO) in path.read_text(encoding="utf-8")] == []
