"""Fixtures that every test may use."""

import os
import socket
from urllib.parse import urlsplit

import pytest

SERVICES = {
    # name: (variable, usual address)
    "postgres": ("CTXWEB_TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres"),
    "redis": ("CTXWEB_TEST_REDIS_URL", "redis://127.0.0.1:6379/0"),
}


def require_service(name: str) -> str:
    """The address of a running service; skip the test without it, or fail where CTXWEB_REQUIRE_SERVICES=1."""
    variable, usual = SERVICES[name]
    address = os.environ.get(variable) or usual
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 0), timeout=1).close()
    except OSError as error:
        sentence = f"no {name} answers at {parts.hostname}:{parts.port} ({error}); name one in {variable}"
        if os.environ.get("CTXWEB_REQUIRE_SERVICES") == "1":
            pytest.fail(sentence)
        pytest.skip(sentence)
    return address
