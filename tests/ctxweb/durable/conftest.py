"""A home of its own for each test: checkpoints are files of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test.utils import override_settings

from ctxweb.home import Home
from ctxweb.models import LOCAL, Project


@pytest.fixture(autouse=True)
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(root=tmp_path / "home")
    made.prepare()
    with override_settings(HOME=made):
        yield made


@pytest.fixture
def project() -> Project:
    return Project.objects.get(pk=LOCAL)
