"""A small session, imported once for a module, in a home of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ctxweb.models import Session
from tests.ctxweb.durable.sessions import imported
from tests.evidence.homes import shared_home


@pytest.fixture(scope="module")
def session(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """What a test writes is taken back after it."""
    with shared_home(blocker=django_db_blocker, root=tmp_path_factory.mktemp("pages_d")):
        with django_db_blocker.unblock():
            found = imported()
        yield found
