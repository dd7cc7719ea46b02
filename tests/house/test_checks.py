"""The self check: what imports rest on is read back from the live connection, and refused when not in force."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connections
from django.db.backends.sqlite3.base import DatabaseWrapper
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from ctxweb.checks import home_is_writable, hosts_are_exact, require_database_in_force
from ctxweb.environment import Environment
from ctxweb.home import Home

pytestmark = pytest.mark.nodb


@pytest.fixture
def options(tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[dict[str, Any]]:
    """The database settings that the program makes, for a file of this test."""
    made = Environment(values={}).database("DATABASE_URL", sqlite=tmp_path / "checked.sqlite3")
    with django_db_blocker.unblock():
        yield deepcopy(connections["default"].settings_dict) | made


def check(options: dict[str, Any]) -> None:
    database = DatabaseWrapper(options, "checked")
    try:
        require_database_in_force(database)
    finally:
        database.close()


def test_the_modes_that_the_program_sets_are_in_force(options: dict[str, Any]) -> None:
    check(options)


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [
        ("timeout", 5, "OPTIONS.timeout"),
        ("init_command", "PRAGMA synchronous=NORMAL;", "journal_mode=WAL"),
        ("init_command", "PRAGMA journal_mode=WAL;", "synchronous=NORMAL"),
        ("transaction_mode", None, "OPTIONS.transaction_mode"),
        ("transaction_mode", "DEFERRED", "OPTIONS.transaction_mode"),
    ],
)
def test_a_mode_that_is_not_in_force_is_refused_by_the_name_of_its_setting(
    options: dict[str, Any], option: str, value: object, named: str
) -> None:
    options["OPTIONS"] = {**options["OPTIONS"], option: value}
    with pytest.raises(ImproperlyConfigured, match=named):
        check(options)


@pytest.mark.parametrize("hosts", [[], ["*"], ["127.0.0.1", ".example"]])
def test_hosts_that_are_not_exact_are_an_error(hosts: list[str]) -> None:
    with override_settings(ALLOWED_HOSTS=hosts):
        assert [error.id for error in hosts_are_exact()] == ["ctxweb.E001"]


def test_a_home_that_is_gone_is_an_error(tmp_path: Path) -> None:
    assert home_is_writable() == []
    with override_settings(HOME=Home(root=tmp_path / "gone")):
        assert [error.id for error in home_is_writable()] == ["ctxweb.E002"]
