"""Starts the children in order, watches them, and ends them in the opposite order."""

import http.client
import ipaddress
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType

from django.conf import settings
from django.db import connection

from ctxweb.models import Session
from ctxweb.serve import broker
from ctxweb.serve.children import Child, ChildPlan, start, tail
from ctxweb.serve.errors import StartRefused
from ctxweb.serve.static_files import prepare_static
from ctxweb.services.database_prepare import database_prepare

START_SECONDS = 120  # a busy machine starts slowly; a child that dies is noticed at once
PORT_FREE_SECONDS = 5  # a web server whose supervisor was killed needs a moment to end itself
LOOK_SECONDS = 0.1
# an open stream of events would hold the end up for as long as its page is open
WEB_OPTIONS = ("--http", "1", "--no-ws", "--log-level", "warning", "--workers-kill-timeout", "2")
_CHILD = (sys.executable, "-m", "ctxweb.serve.child")


class StopRequested(Exception):
    """SIGTERM or Ctrl-C came while something was being waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    host: str
    port: int

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisor:
    """Serves at `address` until it is asked to stop or a child dies."""

    address: Address
    say: Callable[[str], object]
    children: list[Child] = field(default_factory=list)
    stop_requested: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Raises StartRefused or ChildDied; returns when it was asked to stop. No child is left either way."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._request_stop)
        try:
            self._start()
            self.say(f"ctxweb is at {self.address.url} (Ctrl-C ends it; state and logs are in {settings.HOME.root})")
            self._wait(lambda: False)
        except StopRequested:
            self.say("Ending …")
        finally:
            while self.children:
                self.children.pop().stop()

    def _start(self) -> None:
        require_loopback(self.address.host)
        self._wait(self._port_is_free, seconds=PORT_FREE_SECONDS, failure=f"Port {self.address.port} is in use: name another with --port.")
        self.say("Preparing database and static files …")
        database_prepare()
        prepare_static()
        self._start_broker()
        settings.HOME.clear_uploads()
        settings.HOME.worker_ready.unlink(missing_ok=True)
        started = [self._start_child(plan) for plan in (worker_plan(), web_plan(self.address))]
        self._import_demo()
        for child in started:
            self._wait_healthy(child)

    def _import_demo(self) -> None:
        """Give an empty home the demo sessions, in a process of its own: this one stays small."""
        has_sessions = Session.objects.exists()
        connection.close()  # this process needs the database no more
        if has_sessions:
            return
        self.say("Importing the demo sessions …")
        demo = start(demo_plan())
        try:
            self._wait(lambda: demo.process.poll() is not None, seconds=START_SECONDS, failure=f"The demo takes too long: see {demo.log}.")
        finally:
            demo.stop()
        if demo.process.returncode != 0:
            self.say(f"The demo sessions could not be imported. The end of {demo.log}:\n{tail(demo.log)}")

    def _start_broker(self) -> None:
        if settings.REDIS_URL:
            broker.require_redis(settings.REDIS_URL)
            return
        if broker.end_stale_broker(settings.HOME):
            self.say("Ended the broker of an earlier start that had been killed.")
        self._wait_healthy(self._start_child(broker_plan()))

    def _start_child(self, plan: ChildPlan) -> Child:
        child = start(plan)
        self.children.append(child)
        return child

    def _wait_healthy(self, child: Child) -> None:
        failure = f"The {child.plan.name} did not answer within {START_SECONDS} s; its log is {child.log}."
        self._wait(child.plan.is_healthy, seconds=START_SECONDS, failure=failure)

    def _wait(self, is_over: Callable[[], bool], *, seconds: float | None = None, failure: str = "") -> None:
        """Wait for `is_over`, without limit where `seconds` is None. Raises StopRequested, ChildDied, StartRefused."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while not is_over():
            if self.stop_requested.wait(LOOK_SECONDS):
                raise StopRequested
            for child in self.children:
                child.require_alive()
            if deadline is not None and time.monotonic() > deadline:
                raise StartRefused(failure)

    def _request_stop(self, number: int, frame: FrameType | None) -> None:
        self.stop_requested.set()

    def _port_is_free(self) -> bool:
        family = socket.AF_INET6 if ":" in self.address.host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.address.host, self.address.port))
            except OSError:
                return False
        return True


def require_loopback(host: str) -> None:
    """Raises StartRefused for an address that other machines could reach."""
    try:
        is_loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise StartRefused(f"{host} is not an address of this machine alone. Serving others needs accounts, which come with team mode.")


def broker_plan() -> ChildPlan:
    client = broker.embedded_client(settings.HOME)
    return ChildPlan(
        name="broker", command=broker.embedded_broker(settings.HOME), is_healthy=lambda: broker.answers(client), stop_seconds=5
    )


def demo_plan() -> ChildPlan:
    return ChildPlan(name="demo", command=(sys.executable, "manage.py", "import_demo"), is_healthy=lambda: True, stop_seconds=5)


def worker_plan() -> ChildPlan:
    options = ("worker", "--beat", "--schedule", str(settings.HOME.broker / "beat"), "--pool", "prefork", "--concurrency", "2")
    quiet = ("--without-gossip", "--without-mingle", "--loglevel", "WARNING")
    return ChildPlan(
        name="worker", command=(*_CHILD, "celery", *options, *quiet), is_healthy=settings.HOME.worker_ready.exists, stop_seconds=15
    )


def web_plan(address: Address) -> ChildPlan:
    where = ("--host", address.host, "--port", str(address.port))
    how = ("--interface", "asginl", "--workers", "1", *WEB_OPTIONS)
    command = (*_CHILD, "granian", *where, *how, "ctxweb.asgi:application")
    return ChildPlan(name="web", command=command, is_healthy=lambda: web_answers(address), stop_seconds=5)


def web_answers(address: Address) -> bool:
    client = http.client.HTTPConnection(address.host, address.port, timeout=2)
    try:
        client.request("GET", "/healthz")
        return client.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        client.close()
