"""A demo session that several mechanisms compacted, imported once for a module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ctxweb.models import Session
from tests.evidence.homes import demo_file, imported, shared_home


@pytest.fixture(scope="module")
def session(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with shared_home(blocker=django_db_blocker, root=tmp_path_factory.mktemp("replays")):
        with django_db_blocker.unblock():
            found = imported(name="demo-long.jsonl", data=demo_file("long"))
        yield found
