"""`manage.py serve`, as a person meets it: one start, a printed address, and no process left behind."""

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.conftest import require_service
from tests.program import Program, free_port

pytestmark = pytest.mark.nodb
WAIT_SECONDS = 120  # a bound against hanging, not a promise of speed


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A running `serve` and what belongs to it."""

    process: subprocess.Popen[bytes]
    program: Program
    port: int

    def read_until(self, pattern: str) -> str:
        """Its output up to a line that matches, or up to its end."""
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line.decode())
            if re.search(pattern, lines[-1]):
                break
        return "".join(lines)

    def of_this_home(self) -> list[psutil.Process]:
        """Every process that was started for this home, whoever is its parent now."""
        return [process for process in psutil.process_iter() if process.pid != self.process.pid and self._is_ours(process)]

    def child(self, word: str) -> psutil.Process:
        """The child whose command holds `word`: the leader of its group."""
        return next(found for found in self.of_this_home() if word in " ".join(found.cmdline()) and os.getpgid(found.pid) == found.pid)

    def _is_ours(self, process: psutil.Process) -> bool:
        """By its environment; the broker, which writes over that, by its working folder."""
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            home = str(self.program.home)
            return bool(process.environ().get("CTXWEB_HOME") == home or process.cwd().startswith(home))
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            return False


def eventually(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all starts: the demo is imported once."""
    return tmp_path_factory.mktemp("served") / "home"


@pytest.fixture
def serve(home: Path) -> Iterator[Callable[..., Served]]:
    """Starts `serve`, and gives it back once its address is printed; whatever is left of it is killed at the end."""
    program = Program(home=home)
    started: list[Served] = []

    def start(**extra: str) -> Served:
        port = free_port()
        served = Served(process=program.start("serve", "--port", str(port), extra=extra), program=program, port=port)
        started.append(served)
        shown = served.read_until("Ctrl-C")
        assert f"http://127.0.0.1:{port}/" in shown, shown
        return served

    yield start
    for served in started:
        for process in [*served.of_this_home(), served.process]:
            process.kill()
        served.process.communicate()


def test_it_serves_with_every_part_and_leaves_no_process_on_sigterm_or_ctrl_c(serve: Callable[..., Served]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        served = serve()
        with urllib.request.urlopen(f"http://127.0.0.1:{served.port}/healthz") as answer:
            assert json.load(answer) == {"status": "ok"}
        with urllib.request.urlopen(f"http://127.0.0.1:{served.port}/static/css/tokens.css") as answer:
            assert answer.headers["Access-Control-Allow-Origin"] is None
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert len({os.getpgid(process.pid) for process in served.of_this_home()}) == 3, "broker, worker and web"
        served.process.send_signal(number)
        shown = served.read_until("nothing: to its end")
        assert served.process.wait(WAIT_SECONDS) == 0, shown
        assert served.of_this_home() == []
        assert "Traceback" not in (served.program.home / "log" / "worker.log").read_text()


@pytest.mark.parametrize(("word", "name"), [("granian", "web"), ("celery", "worker"), ("valkey", "broker")])
def test_a_child_that_dies_is_named_and_the_others_end(serve: Callable[..., Served], word: str, name: str) -> None:
    served = serve()
    served.child(word).kill()
    shown = served.read_until("nothing: to its end")
    assert served.process.wait(WAIT_SECONDS) == 1
    assert f"The {name} was killed by SIGKILL" in shown
    assert f"{name}.log" in shown
    assert served.of_this_home() == []


def test_a_second_serve_of_one_home_says_who_has_it(serve: Callable[..., Served]) -> None:
    served = serve()
    second = served.program.run("serve", "--port", str(free_port()))
    assert second.returncode == 1
    assert f"is being served already, by process {served.process.pid}" in second.stderr.decode()
    assert served.process.poll() is None


def test_after_a_kill_of_the_supervisor_its_children_end_and_the_next_start_recovers(serve: Callable[..., Served]) -> None:
    first = serve()
    first.process.kill()
    first.process.wait(WAIT_SECONDS)
    second = serve()
    groups = {os.getpgid(process.pid) for process in first.of_this_home()}
    assert len(groups) >= 3
    second.process.terminate()
    assert second.process.wait(WAIT_SECONDS) == 0
    assert eventually(lambda: second.of_this_home() == [])


def test_a_port_in_use_is_said_before_anything_starts(program: Program) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = program.run("serve", "--port", str(taken.getsockname()[1]))
    assert ended.returncode == 1
    assert "is in use: name another with --port" in ended.stderr.decode()
    assert not (program.home / "log" / "web.log").exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.org"])
def test_an_address_that_others_can_reach_is_refused(program: Program, host: str) -> None:
    ended = program.run("serve", "--host", host)
    assert ended.returncode == 1
    assert "team mode" in ended.stderr.decode()


def test_a_redis_server_takes_the_place_of_the_embedded_broker(serve: Callable[..., Served]) -> None:
    served = serve(REDIS_URL=require_service("redis"))
    assert len({os.getpgid(process.pid) for process in served.of_this_home()}) == 2, "worker and web"
    served.process.terminate()
    assert served.process.wait(WAIT_SECONDS) == 0
    assert served.of_this_home() == []


def test_a_redis_that_does_not_answer_is_said(program: Program) -> None:
    ended = program.run("serve", "--port", str(free_port()), extra={"REDIS_URL": f"redis://127.0.0.1:{free_port()}/0"})
    assert ended.returncode == 1
    assert "REDIS_URL" in ended.stderr.decode()


def test_a_database_that_does_not_answer_is_said(program: Program) -> None:
    address = f"postgres://nobody:secret@127.0.0.1:{free_port()}/none"
    ended = program.run("serve", "--port", str(free_port()), extra={"DATABASE_URL": address})
    assert ended.returncode == 1
    assert "The database is not ready" in ended.stderr.decode()
    assert "secret" not in ended.stderr.decode()
    assert "Traceback" not in ended.stderr.decode()
