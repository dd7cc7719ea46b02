"""A database of the first schema gets projects, durable state and audit; its sessions belong to the project of this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from ctxweb.append_only import triggers, triggers_found
from ctxweb.models import LOCAL, Session

pytestmark = pytest.mark.django_db(transaction=True)
FIRST, DURABLE = ("ctxweb", "0001_initial"), ("ctxweb", "0002_durable_audit")


@pytest.fixture
def newest() -> Iterator[None]:
    """Whatever a test migrates to, the next one finds the newest schema."""
    yield
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def migrate(target: tuple[str, str]) -> None:
    MigrationExecutor(connection).migrate([target])


def test_sessions_of_the_first_schema_belong_to_the_project_of_this_machine(newest: None) -> None:
    migrate(FIRST)
    with connection.cursor() as cursor:
        first = MigrationExecutor(connection).loader.project_state([FIRST]).apps.get_model("ctxweb", "Session")
        first.objects.create(public_id="old0000000000000000", format="codex", lane="main")
        cursor.execute("SELECT COUNT(*) FROM ctxweb_session")
        assert cursor.fetchone() == (1,)
    migrate(DURABLE)
    assert Session.objects.get().project_id == LOCAL
    assert set(triggers(connection.vendor)) <= triggers_found(connection)


def test_it_can_be_taken_back(newest: None) -> None:
    migrate(FIRST)
    assert not triggers_found(connection) & set(triggers(connection.vendor))
    assert "ctxweb_auditentry" not in connection.introspection.table_names()
