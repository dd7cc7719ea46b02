"""A server, and each client with and without streaming."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.ctxweb.llm.asked import BOUNDS, KEY, KINDS
from tests.model_server import ModelServer, model_server


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


@pytest.fixture(params=[(kind, streamed) for kind in KINDS for streamed in (True, False)], ids=lambda each: f"{each[0]}-{each[1]}")
def client(request: pytest.FixtureRequest, server: ModelServer) -> Any:
    kind, streamed = request.param
    return KINDS[kind](base_url=server.url, api_key=KEY, is_streamed=streamed, bounds=BOUNDS)
