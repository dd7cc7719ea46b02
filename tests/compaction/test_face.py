"""The names by which the library is used from outside, and what importing it costs."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import compaction
from tests.shared import REPO

HEAVY = ("django", "celery", "anthropic", "tiktoken", "toktok", "ctxweb")


@pytest.mark.parametrize("name", compaction.__all__)
def test_every_exported_name_is_there(name: str) -> None:
    assert getattr(compaction, name) is not None
    assert name in dir(compaction)


def test_the_names_for_type_checkers_are_those_at_run_time() -> None:
    tree = ast.parse((REPO / "compaction" / "__init__.py").read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.name: node.module for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    lazy = {name: f"compaction.{module}" for module, names in compaction._HOMES.items() for name in names.split()}
    assert typed == lazy
    assert sorted(typed) == sorted(compaction.__all__)


def test_a_name_that_is_none_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'summarise'"):
        compaction.summarise  # noqa: B018


def test_no_exported_name_is_that_of_a_module() -> None:
    modules = {path.stem for path in (REPO / "compaction").iterdir()}
    assert not modules & set(compaction.__all__)


@pytest.mark.parametrize("code", ["import compaction", "from compaction import *"])
def test_importing_loads_no_framework_and_no_tokenizer(code: str) -> None:
    script = f"import sys\n{code}\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    assert _python("-c", script) == "[]"


def test_importing_the_library_loads_none_of_its_modules() -> None:
    script = "import sys, compaction; print(sorted(name for name in sys.modules if name.startswith('compaction.')))"
    assert _python("-c", script) == "[]"


def test_the_package_says_that_it_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(REPO / name, tmp_path)
    (tmp_path / "ctxweb").mkdir()
    shutil.copytree(REPO / "compaction", tmp_path / "compaction", ignore=shutil.ignore_patterns("__pycache__"))
    _python("-c", "import setuptools; setuptools.setup()", "-q", "build_py", "--build-lib", "built", folder=tmp_path)
    assert (tmp_path / "built" / "compaction" / "py.typed").is_file()
    assert (tmp_path / "built" / "compaction" / "layers" / "snip_messages.py").is_file()
    assert [path.name for path in (tmp_path / "built").iterdir()] == ["compaction"]


def _python(*arguments: str, folder: Path = REPO) -> str:
    run = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return run.stdout.strip()
