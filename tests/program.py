"""The program as a person starts it: a process of its own, with a home of its own."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.shared import REPO

TEST_ONLY = ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "REDIS_URL")  # what the test run set for itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """`manage.py` with the state folder `home`; `database_url` is empty for SQLite inside of it."""

    home: Path
    database_url: str = ""

    def environment(self, extra: Mapping[str, str] = {}) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if name not in TEST_ONLY}
        inherited["HOME"] = str(self.home.parent)  # no test finds the sessions of whoever runs it
        return {**inherited, "CTXWEB_HOME": str(self.home), "DATABASE_URL": self.database_url, **extra}

    def run(
        self, *arguments: str, given: bytes | None = None, seconds: int = 300, extra: Mapping[str, str] = {}
    ) -> subprocess.CompletedProcess[bytes]:
        """Run one command to its end; the caller looks at `returncode`, `stdout` and `stderr`."""
        return subprocess.run(
            self._command(arguments), input=given, capture_output=True, timeout=seconds, env=self.environment(extra), cwd=REPO, check=False
        )

    def start(self, *arguments: str, extra: Mapping[str, str] = {}) -> subprocess.Popen[bytes]:
        """Start one command in a session of its own; its output is one stream."""
        return subprocess.Popen(
            self._command(arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.environment(extra),
            cwd=REPO,
            start_new_session=True,
        )

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        return [sys.executable, str(REPO / "manage.py"), *arguments]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
