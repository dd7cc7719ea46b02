"""A home of its own for each test of the services."""

from pathlib import Path
from typing import Any

import pytest

from ctxweb.home import Home


@pytest.fixture
def home(tmp_path: Path, settings: Any) -> Home:
    made = Home(root=tmp_path / "home")
    made.prepare()
    settings.HOME = made
    return made
