"""Fixtures that every test may use."""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import hypothesis
import psycopg
import pytest
from django.conf import settings
from django.db.backends.base.operations import BaseDatabaseOperations as DatabaseOperations
from pytest_django import DjangoDbBlocker

from ctxweb.append_only import triggers_create, triggers_drop
from ctxweb.models import LOCAL, Project
from ctxweb.services.search_index import index_clear
from tests.local_services import SERVICES, answers, service_address
from tests.program import Program

hypothesis.settings.register_profile("house", deadline=None, database=None)  # no test depends on the speed of a machine
hypothesis.settings.load_profile("house")


def require_service(name: str) -> str:
    """The address of a running service; skip the test without it, or fail where CTXWEB_REQUIRE_SERVICES=1."""
    address = service_address(name)
    if answers(address):
        return address
    sentence = f"no {name} answers at {urlsplit(address).netloc.rpartition('@')[2]}; name one in {SERVICES[name][0]}"
    if os.environ.get("CTXWEB_REQUIRE_SERVICES") == "1":
        pytest.fail(sentence)
    pytest.skip(sentence)


@pytest.fixture(autouse=True, scope="session")
def _flush_empties_tables_that_only_grow() -> Iterator[None]:
    """A flush is a matter of tests: it lifts the triggers for that long, and puts back the project that migrations make."""
    flush = DatabaseOperations.execute_sql_flush

    def flush_all(self: DatabaseOperations, sql_list: list[str]) -> None:
        triggers_drop(self.connection)
        flush(self, sql_list)
        triggers_create(self.connection)
        Project.objects.get_or_create(id=LOCAL, defaults={"name": "This machine"})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "execute_sql_flush", flush_all)
        yield


@pytest.fixture(autouse=True)
def _words_of_this_test_alone(request: pytest.FixtureRequest, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """After a test with real transactions only the tables of models are emptied; the index of words is none of them."""
    yield
    marker = request.node.get_closest_marker("django_db")
    if "transactional_db" in request.fixturenames or (marker and marker.kwargs.get("transaction")):
        with django_db_blocker.unblock():
            index_clear()


@pytest.fixture
def postgres_database() -> Iterator[str]:
    """The address of an empty PostgreSQL database, dropped at the end."""
    address = require_service("postgres")
    name = f"ctxweb_test_{uuid.uuid4().hex}"
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        yield urlunsplit(urlsplit(address)._replace(path=f"/{name}"))
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def program(tmp_path: Path, request: pytest.FixtureRequest) -> Program:
    """`manage.py` in a fresh home, on the kind of database that this test run is on."""
    is_postgres = "postgresql" in settings.DATABASES["default"]["ENGINE"]
    return Program(home=tmp_path / "home", database_url=request.getfixturevalue("postgres_database") if is_postgres else "")
