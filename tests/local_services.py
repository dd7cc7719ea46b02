"""The services that tests may need, where they usually listen. No Django here: `make test` asks before there are settings."""

import os
import socket
from urllib.parse import urlsplit

SERVICES = {
    # name: (variable, usual address)
    "postgres": ("CTXWEB_TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres"),
    "redis": ("CTXWEB_TEST_REDIS_URL", "redis://127.0.0.1:6379/0"),
}


def service_address(name: str) -> str:
    variable, usual = SERVICES[name]
    return os.environ.get(variable) or usual


def answers(address: str) -> bool:
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 0), timeout=1).close()
    except OSError:
        return False
    return True
