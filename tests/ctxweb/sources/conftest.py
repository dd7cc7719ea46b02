"""A home, the local project, and a folder of artifacts that it may look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test.utils import override_settings

from ctxweb.home import Home
from ctxweb.models import LOCAL, Project
from ctxweb.services.source_watch import watches_forget
from tests.ctxweb.sources.made import Artifacts


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(root=tmp_path / "home")
    made.prepare()
    with override_settings(HOME=made):
        yield made
    watches_forget()


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    root = tmp_path / "artifacts"
    root.mkdir()
    return Artifacts(root=root)


@pytest.fixture
def project(home: Home, artifacts: Artifacts) -> Project:
    """The local project, with the root of the artifacts."""
    found = Project.objects.get(pk=LOCAL)
    found.artifact_roots = [str(artifacts.root)]
    found.save()
    return found
