"""docs/operations.md tells of every setting, with its default."""

import ast
import re
from collections.abc import Iterator

import pytest

from ctxweb import settings
from tests.local_services import SERVICES
from tests.shared import REPO

pytestmark = pytest.mark.nodb
DOCUMENT = (REPO / "docs" / "operations.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([A-Z_]+)` \| ([^|]+) \|", DOCUMENT, re.MULTILINE))


def read_from_the_environment() -> Iterator[tuple[str, int | None]]:
    """Each variable that the settings read, with its default where that is a number."""
    tree = ast.parse((REPO / "ctxweb" / "settings.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        is_reader = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "_env"
        if is_reader and isinstance(node, ast.Call):
            number = next((ast.unparse(keyword.value) for keyword in node.keywords if keyword.arg == "default"), "")
            first = node.args[0]
            assert isinstance(first, ast.Constant)
            yield str(first.value), eval(number) if re.fullmatch(r"[\d_ *]+", number) else None


SETTINGS = dict(read_from_the_environment())


def test_the_settings_are_found() -> None:
    assert {"CTXWEB_HOME", "DATABASE_URL", "REDIS_URL", "CTXWEB_MAX_LINE_BYTES"} <= set(SETTINGS)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_in_the_table_with_its_default(name: str) -> None:
    assert name in ROWS
    number = SETTINGS[name]
    if number is not None:
        assert f"`{number}`" in ROWS[name]
        assert getattr(settings, name) == number


def test_the_table_has_no_setting_that_does_not_exist() -> None:
    of_tests = {variable for variable, _ in SERVICES.values()} | {"CTXWEB_REQUIRE_SERVICES", "CTXWEB_STRESS"}
    assert set(ROWS) == set(SETTINGS) | of_tests


def test_the_addresses_of_the_test_services_are_those_in_the_table() -> None:
    for variable, usual in SERVICES.values():
        assert f"`{usual}`" in ROWS[variable]
