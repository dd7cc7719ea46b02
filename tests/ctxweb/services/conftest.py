"""A home of its own for each test of the services."""

from pathlib import Path
from typing import Any

import pytest

from ctxweb.home import Home


@pytest.fixture
def home(tmp_path: Path, settings: Any) -> Home:
    settings.HOME = Home(root=tmp_path / "home")
    settings.HOME.prepare()
    return settings.HOME
