"""A home of its own for each test, and a model's server that behaves as the test says."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ctxweb.home import Home
from tests.ctxweb.summaries.models import Serve, configured_model
from tests.model_server import ModelServer


@pytest.fixture
def home(tmp_path: Path, settings: Any) -> Home:
    made = Home(root=tmp_path / "home")
    made.prepare()
    settings.HOME = made
    return made


@pytest.fixture
def serve(home: Home, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(*behaviours: str, **more: Any) -> ModelServer:
            return stack.enter_context(configured_model(settings, *behaviours, patch=monkeypatch, **more))

        yield start
