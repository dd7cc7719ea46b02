"""A home of its own for a test or a module: anchors are files of it, and imported bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test.utils import override_settings

from ctxweb.home import Home
from ctxweb.models import LOCAL, Project, Session
from tests.ctxweb.durable.sessions import imported
from tests.evidence.homes import shared_home


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(root=tmp_path / "home")
    made.prepare()
    with override_settings(HOME=made):
        yield made


@pytest.fixture
def project() -> Project:
    return Project.objects.get(pk=LOCAL)


@pytest.fixture(scope="module")
def session(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A small session, imported once for a module; what its tests write is taken back after each."""
    with shared_home(blocker=django_db_blocker, root=tmp_path_factory.mktemp("durable")):
        with django_db_blocker.unblock():
            found = imported()
        yield found
