"""Settings from the environment: a bad value stops the start and names its variable."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from ctxweb.environment import Environment
from tests.program import Program

pytestmark = pytest.mark.nodb


def environment(**values: str) -> Environment:
    return Environment(values=values)


def test_an_absent_or_empty_variable_gives_the_default() -> None:
    assert environment().envint("N", default=7) == 7
    assert environment(N=" ").envint("N", default=7) == 7
    assert environment().envbool("B", default=True) is True
    assert environment().envpath("P", default=Path("/x")) == Path("/x")


def test_values_are_read_in_their_type() -> None:
    assert environment(N="2_000").envint("N", default=7) == 2000
    assert environment(B="No").envbool("B", default=True) is False
    assert environment(P="here").envpath("P", default=Path("/x")) == Path.cwd() / "here"
    assert environment(H="a.example, b.example,").hosts("H") == ["a.example", "b.example"]


@pytest.mark.parametrize("value", ["many", "1.5", "0", "-3"])
def test_a_bad_number_is_refused_by_the_name_of_its_variable(value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"CTXWEB_PAGE_ROWS=.*(whole number|at least 1)"):
        environment(CTXWEB_PAGE_ROWS=value).envint("CTXWEB_PAGE_ROWS", default=200)


def test_a_bad_flag_is_refused_by_the_name_of_its_variable() -> None:
    with pytest.raises(ImproperlyConfigured, match="CTXWEB_DEBUG='maybe'"):
        environment(CTXWEB_DEBUG="maybe").envbool("CTXWEB_DEBUG", default=False)


@pytest.mark.parametrize("hosts", ["*", "good.example,*.example", ".example"])
def test_host_patterns_are_refused(hosts: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="CTXWEB_ALLOWED_HOSTS holds the pattern"):
        environment(CTXWEB_ALLOWED_HOSTS=hosts).hosts("CTXWEB_ALLOWED_HOSTS")


def test_a_postgres_address_is_taken_apart() -> None:
    given = "postgres://u%40x:p%2Fw@db.example:6432/my%20db?sslmode=require"
    found = environment(DATABASE_URL=given).database("DATABASE_URL", sqlite=Path("/x"))
    assert found["ENGINE"] == "django.db.backends.postgresql"
    expected = {"NAME": "my db", "USER": "u@x", "PASSWORD": "p/w", "HOST": "db.example", "PORT": "6432", "OPTIONS": {"sslmode": "require"}}
    assert {name: found[name] for name in expected} == expected


def test_a_sqlite_address_names_the_file() -> None:
    found = environment(DATABASE_URL="sqlite:///data/a%20b.db").database("DATABASE_URL", sqlite=Path("/x"))
    assert found["NAME"] == "/data/a b.db"
    assert environment().database("DATABASE_URL", sqlite=Path("/x"))["NAME"] == "/x"


@pytest.mark.parametrize(
    "address",
    ["mysql://u:secret@a/b", "postgres://u:secret@host", "sqlite://", "sqlite://h/file", "postgres://u:secret@h:port/x", "secret"],
)
def test_another_database_address_is_refused_and_its_password_not_repeated(address: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL") as refused:
        environment(DATABASE_URL=address).database("DATABASE_URL", sqlite=Path("/x"))
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("CTXWEB_MAX_LINE_BYTES", "16MB"), ("DATABASE_URL", "oracle://x/y"), ("CTXWEB_ALLOWED_HOSTS", "*"), ("CTXWEB_DEBUG", "perhaps")],
)
def test_the_program_does_not_start_with_a_bad_variable_and_names_it(program: Program, variable: str, value: str) -> None:
    ended = program.run("check", extra={variable: value})
    assert ended.returncode != 0
    assert variable in ended.stderr.decode()


def test_a_home_that_cannot_be_made_is_named(program: Program, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = program.run("check", extra={"CTXWEB_HOME": str(tmp_path / "file" / "home")})
    assert ended.returncode != 0
    assert "CTXWEB_HOME" in ended.stderr.decode()
