"""Sessions that are stored once for a module, in a home of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ctxweb.models import Session
from tests.ctxweb.pages_b.rows import make_session
from tests.ctxweb.summaries.talks import imported, talk
from tests.evidence.homes import shared_home


@pytest.fixture(scope="module")
def stored(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Session]]:
    """What a test writes is taken back after it."""
    with shared_home(blocker=django_db_blocker, root=tmp_path_factory.mktemp("checkpoints")):
        with django_db_blocker.unblock():
            found = make_session(turns=7), imported(talk(10))
        yield found


@pytest.fixture
def session(stored: tuple[Session, Session]) -> Session:
    """One that recorded two checkpoints."""
    return stored[0]


@pytest.fixture
def talked(stored: tuple[Session, Session]) -> Session:
    """One of ten calls without a checkpoint, each with a request that names a file and a port."""
    return stored[1]
