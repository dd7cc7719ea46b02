"""The web server of the product on a free port, with a session whose sources somebody touches."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxweb.serve.supervisor import WEB_OPTIONS
from tests.program import Program, free_port
from tests.shared import REPO

WAIT_SECONDS = 60  # a bound against hanging, not a promise of speed
SETPRIV = shutil.which("setpriv")
IS_ROOT = os.geteuid() == 0
CAN_BE_DENIED = not IS_ROOT or SETPRIV is not None  # root reads what no one may

SETUP = """
from io import BytesIO
from django.core.management import call_command
from ctxweb.models import DurableItem, Project, Session
from ctxweb.services.session_import import session_import
call_command("migrate", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
session_import(name="talk.jsonl", stream=BytesIO({session!r}))
session = Session.objects.get()
Project.objects.filter(pk=session.project_id).update(artifact_roots=[{root!r}])
for number, pointer in enumerate({pointers!r}):
    DurableItem.objects.create(project_id=session.project_id, session=session.public_id, version=1, domain="facts", ordinal=number,
        item_id=str(number), pointer=pointer.replace("SESSION", session.public_id))
print(session.public_id)
"""
AUDIT = """
import json
from ctxweb.models import AuditEntry
print(json.dumps(list(AuditEntry.objects.order_by("seq").values_list("pointer", "status", "reason", "actor"))))
"""


def prepared(program: Program, *, session: bytes, root: Path, pointers: list[str]) -> str:
    """A home with one imported session and durable items with these pointers, in which SESSION is its id; that id."""
    return said(program, SETUP.format(session=session, root=str(root), pointers=pointers)).split()[-1]


def said(program: Program, code: str) -> str:
    done = program.run("shell", "--no-imports", "-c", code)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def audited(program: Program) -> list[list[str]]:
    entries: list[list[str]] = json.loads(said(program, AUDIT))
    return entries


@contextmanager
def served(program: Program, *, interface: str = "asginl", extra: Mapping[str, str] = {}) -> Iterator[Server]:
    """granian, as `serve` starts it, without the right of root to read everything."""
    port = free_port()
    module = "ctxweb.wsgi" if interface == "wsgi" else "ctxweb.asgi"
    options = ("--host", "127.0.0.1", "--port", str(port), "--interface", interface, "--workers", "1", *WEB_OPTIONS)
    command = [sys.executable, "-m", "granian", *options, f"{module}:application"]
    if IS_ROOT and SETPRIV is not None:
        command = [SETPRIV, "--bounding-set=-dac_override,-dac_read_search", *command]
    process = subprocess.Popen(command, cwd=REPO, env=program.environment(extra), start_new_session=True)
    server = Server(port=port, process=process)
    try:
        server.wait_healthy()
        yield server
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@dataclass(slots=True)
class Server:
    port: int
    process: subprocess.Popen[bytes]

    def ask(self, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def wait_healthy(self) -> None:
        ends = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < ends:
            try:
                if self.ask("/healthz")[0] == 200:
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server did not answer")

    @contextmanager
    def stream(self, path: str) -> Iterator[Stream]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS)
        try:
            connection.request("GET", path, headers={"Accept": "text/event-stream"})
            answer = connection.getresponse()
            assert (answer.status, answer.headers["Content-Type"]) == (200, "text/event-stream")
            yield Stream(answer=answer)
        finally:
            connection.close()


@dataclass(slots=True)
class Stream:
    """A stream of events. `badges` is what a page would show; `looks` counts the looks that it told of."""

    answer: http.client.HTTPResponse
    badges: dict[str, dict[str, Any]] = field(default_factory=dict)
    worst: dict[str, Any] = field(default_factory=dict)
    looks: int = 0

    def next_look(self) -> None:
        """Read on to the end of the next look: an event, or the comment that nothing changed."""
        while True:
            line = self.answer.readline().decode()
            assert line, "the stream ended"
            if line.startswith("data: "):
                told = json.loads(line.removeprefix("data: "))
                self.badges |= {badge["key"]: badge for badge in told["badges"]}
                self.worst = told["worst"]
            if line.startswith(("data: ", ":")):
                self.looks += 1
                return

    def looks_until(self, key: str, status: str) -> int:
        """How many looks it took until the badge had this status."""
        before, ends = self.looks, time.monotonic() + WAIT_SECONDS
        while self.badges.get(key, {}).get("status") != status:
            assert time.monotonic() < ends, f"still {self.badges.get(key)}"
            self.next_look()
        return self.looks - before
