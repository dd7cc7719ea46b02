"""SIGKILL of whatever a summary needs while a model writes (campaigns K3, K4, R1): each job ends once, and nothing is paid twice.

Real worker processes on an embedded broker, a real model server that takes its time. What is killed, in turn: the process of the
pool that has the job, the whole worker, the broker; or everything that the broker holds is flushed. A kill may cost one call.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import psutil
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client, override_settings

from ctxweb.home import Home
from ctxweb.jobs import FINAL
from ctxweb.models import Job, Session, Summary, SummaryCall
from ctxweb.serve import broker
from ctxweb.services.checkpoint_summarize import summary_open
from ctxweb.services.summary_asked import SummaryAsked
from tests.ctxweb.summaries.models import MODEL, everything_else, prices
from tests.ctxweb.summaries.talks import imported, talk
from tests.model_server import ModelServer, model_server
from tests.shared import REPO
from tests.stress.summary_worker import POISON

pytestmark = [pytest.mark.django_db(transaction=True)]
FULL = os.environ.get("CTXWEB_STRESS") == "full"
KILLS = 200 if FULL else 4
DELAY = 0.4  # of the model
LONGEST = 0.8  # after the opening of a job, until something is killed: before, during and after its call
PATIENCE = 90  # seconds; a bound against hanging, not a promise of speed


@dataclass(slots=True, kw_only=True)
class Machine:
    """A broker and a worker, and a model that they ask."""

    home: Home
    server: ModelServer
    environment: dict[str, str]
    broker: subprocess.Popen[bytes] | None = None
    worker: subprocess.Popen[bytes] | None = None
    kills: Counter[str] = field(default_factory=Counter)

    def start_broker(self) -> None:
        self.home.broker_socket.unlink(missing_ok=True)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.broker = subprocess.Popen(broker.embedded_broker(self.home), **quiet)  # type: ignore[call-overload]
        while not broker.answers(broker.embedded_client(self.home)):
            time.sleep(0.02)

    def start_worker(self) -> None:
        self.home.worker_ready.unlink(missing_ok=True)
        options = ("worker", "--beat", "--schedule", str(self.home.broker / "beat"), "--pool", "prefork", "--concurrency", "2")
        command = (sys.executable, "-m", "tests.stress.summary_worker", *options, "--without-gossip", "--without-mingle")
        with (self.home.root / "worker.log").open("ab") as log:
            self.worker = subprocess.Popen(command, env=self.environment, cwd=REPO, stdout=log, stderr=log, start_new_session=True)

    def until(self, is_so: Callable[[], bool], *, told: Callable[[], str] = str) -> None:
        """Wait for something. A worker that ends by itself (where a process of its pool dies while it starts, or where it has to
        acknowledge a job to a broker that is gone) is started again, as whoever supervises it would."""
        deadline = time.monotonic() + PATIENCE
        while not is_so():
            if self.worker is not None and self.worker.poll() is not None:
                self.kills["ended by itself"] += 1
                self.start_worker()
            assert time.monotonic() < deadline, f"{told()}: {(self.home.root / 'worker.log').read_text()[-2_000:]}"
            time.sleep(0.05)

    def kill(self, what: str, job: Job) -> None:
        self.kills[what] += 1
        if what == "child":
            os.kill(self.child_of(job), signal.SIGKILL)
        elif what == "worker":
            self.end_worker()
            self.start_worker()
        elif what == "broker":
            assert self.broker is not None
            self.broker.kill()
            self.broker.wait()
            self.start_broker()
        else:
            broker.embedded_client(self.home).flushall()

    def child_of(self, job: Job) -> int:
        """The process of the pool that has the job, or had it last; another one where none of them has."""
        assert self.worker is not None
        self.until(lambda: len(psutil.Process(self.worker.pid if self.worker else 0).children()) >= 2)
        children = [child.pid for child in psutil.Process(self.worker.pid).children()]
        job.refresh_from_db()
        own = int(job.worker.split("/")[1]) if job.worker else 0
        return own if own in children else max(children)

    def end_worker(self) -> None:
        if self.worker is not None:
            os.killpg(self.worker.pid, signal.SIGKILL)
            self.worker.wait()

    def end(self) -> None:
        self.end_worker()
        if self.broker is not None:
            self.broker.kill()
            self.broker.wait()


def database_url() -> str:
    """The address of the database of this test run, for another process."""
    told = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite://{told['NAME']}"
    return f"postgres://{told['USER']}:{told['PASSWORD']}@{told['HOST']}:{told['PORT']}/{told['NAME']}"


@pytest.fixture
def machine() -> Iterator[Machine]:
    home = settings.HOME  # that of the test run: its broker socket is the one that jobs ring at
    with model_server() as server:
        server.delay = DELAY
        access = {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_MODEL": MODEL, "CONCURRENT_SUMMARIES": 2}
        caps = {f"SUMMARY_{name}_CAP_USD": 1_000 for name in ("SESSION", "DAY", "PROJECT")}
        told = {f"CTXWEB_{name}": value for name, value in (access | caps).items()}
        environment = {**os.environ, **{name: str(value) for name, value in told.items()}, "CTXWEB_HOME": str(home.root)}
        environment |= {"CTXWEB_MODEL_PRICES": json.dumps({MODEL: 1}), "DATABASE_URL": database_url(), "HOME": str(home.root)}
        made = Machine(home=home, server=server, environment=environment)
        try:
            made.start_broker()
            made.start_worker()
            with override_settings(**told, CTXWEB_MODEL_PRICES=prices("1")):
                made.until(home.worker_ready.exists)
                time.sleep(0.5)  # Celery gives up where its pool is hit before its first look at it
                yield made
        finally:
            made.end()


def opened(session: Session, focus: str) -> Job:
    return summary_open(session=session, asked=SummaryAsked(summarizer="openai_compatible", focus=focus), actor="Ada")


def ended(job: Job) -> bool:
    job.refresh_from_db()
    return job.state in FINAL


def asked_for(machine: Machine, job: Job) -> int:
    """How often the model was asked for this job, by what is in the requests themselves."""
    mark = json.dumps(job.params["asked"]["focus"])
    return sum(mark in request.body["messages"][-1]["content"] for request in machine.server.requests)


def check(machine: Machine, job: Job, *, kills: int) -> None:
    """One end, told on the page; one result or none; at most one call more for a kill."""
    calls = list(SummaryCall.objects.filter(job=job).order_by("number"))
    kept = Summary.objects.filter(job=job, state="kept").count()
    assert job.state in ("succeeded", "failed"), (job.state, job.error)
    assert kept == (job.state == "succeeded")
    assert job.state == "succeeded" or (job.error or {})["code"] == "no_calls_left", job.error
    assert asked_for(machine, job) <= len(calls) <= min(2, 1 + kills)
    assert not [call for call in calls if call.state == "reserved"]
    page = Client().get(f"/jobs/{job.public_id}").content.decode()
    assert job.state in page
    lost = [call for call in calls if call.state == "lost"]
    assert len([line for line in job.log if "was cut off" in line["line"]]) == len(lost)
    for line in [*job.log, *([{"line": job.error["message"]}] if job.error else [])]:
        assert line["line"].split("(")[0] in page


def poison_is_abandoned(machine: Machine, session: Session, poison: Job) -> None:
    """A job that nobody survives ends after three attempts, without a call, and the worker goes on."""
    machine.until(lambda: ended(poison), told=lambda: f"{poison.state} {poison.attempt}")
    assert (poison.state, poison.attempt, (poison.error or {}).get("code")) == ("abandoned", 3, "abandoned")
    assert asked_for(machine, poison) == 0
    good = opened(session, "after the poison")
    machine.until(lambda: ended(good))
    check(machine, good, kills=0)


def test_whatever_is_killed_each_summary_ends_once_and_a_kill_costs_at_most_a_call(machine: Machine) -> None:
    chance = random.Random(11)
    session = imported(talk(6))
    before = everything_else()
    poison = opened(session, POISON)
    began, jobs, whats = time.monotonic(), list[Job](), ("child", "worker", "broker", "flush")
    for number in range(KILLS if FULL or connection.vendor == "sqlite" else 2):
        job = opened(session, f"job number {number}")
        time.sleep(chance.random() * LONGEST)
        machine.kill(whats[number % len(whats)], job)
        machine.until(lambda job=job: ended(job), told=lambda job=job: f"job {job.state} {job.error} {job.log}")  # type: ignore[misc]
        check(machine, job, kills=1)
        jobs.append(job)
    poison_is_abandoned(machine, session, poison)
    assert everything_else() == before, "sessions, views, durable state and audit are as they were"
    assert Job.objects.filter(kind="summary").exclude(state__in=FINAL).count() == 0
    asked = sum(asked_for(machine, job) for job in jobs)
    assert asked <= len(jobs) + KILLS
    states = Counter(job.state for job in jobs)
    calls = Counter(SummaryCall.objects.values_list("state", flat=True))
    kept = Counter(Summary.objects.values_list("state", flat=True))
    told = f"kills {dict(machine.kills)}; jobs {dict(states)}; calls {dict(calls)}; model asked {asked} times; summaries {dict(kept)}"
    sys.stdout.write(f"\nK3: {told}; {time.monotonic() - began:.0f} s\n")
