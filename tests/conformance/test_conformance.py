"""The library answers the vectors of the four published programs, through the adapter, by the checker's own comparison."""

from __future__ import annotations

import importlib.util
from functools import cache
from types import ModuleType

import pytest

from tests.conformance import adapter
from tests.shared import SHARED, needs_shared

pytestmark = pytest.mark.nodb

NAMES = [(system, function) for system, functions in adapter.FUNCTIONS.items() for function in functions]


@cache
def _checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conformance_check", SHARED / "conformance" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_shared
@pytest.mark.parametrize(("system", "function"), NAMES, ids=[f"{system}-{function}" for system, function in NAMES])
def test_every_vector_of_a_function_is_answered(system: str, function: str, capsys: pytest.CaptureFixture[str]) -> None:
    passed, failed = _checker().run_all(adapter.run, SHARED / "conformance" / "golden", system=system, function=function)
    assert (passed > 0, failed) == (True, 0), capsys.readouterr().out


@needs_shared
def test_every_function_of_the_vectors_is_in_the_table() -> None:
    asked = {(system, function) for system, function, _, _ in _checker().load(SHARED / "conformance" / "golden")}
    assert asked
    assert asked <= set(NAMES)


def test_an_unknown_function_is_no_answer() -> None:
    with pytest.raises(NotImplementedError):
        adapter.run("s14", "no_such_function", {"input": {}})
