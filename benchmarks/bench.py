"""What the cases share: the sessions, the homes that they are imported into, the rates of the machine."""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.files import grown_file
from benchmarks.measure import BenchFailed, Usage, measured
from benchmarks.rates import Rates
from ctxweb.settings import BASE_DIR

APPENDED_BYTES = 1_000_000
LONG_RESULTS = 0.05  # share of the results that are eight times as long as others
FRACTION = 10  # the small session has a tenth of the bytes
NOT_OURS = ("DATABASE_URL", "REDIS_URL")  # each home has a database of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeSession:
    """A written session; `counts` are its bytes, lines, messages, calls and compactions."""

    file: Path
    counts: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedHome:
    """A home that holds the session and the small one, with their public ids."""

    home: Path
    session: str
    small: str


class Bench:
    """One run in the empty folder `work`.

    `size`: bytes of the session; `reps`: how often each command is measured; `requests`: how often each page.
    """

    def __init__(self, *, work: Path, size: int, reps: int, requests: int) -> None:
        self.work = work
        self.size = size
        self.reps = reps
        self.requests = requests
        self.homes = 0

    @cached_property
    def session(self) -> MadeSession:
        return self.made("session.jsonl", seed=1, size=self.size)

    @property
    def grown(self) -> Path:
        """The session with APPENDED_BYTES more, or as many as it has itself."""
        return grown_file(self.session.file)

    @cached_property
    def small(self) -> MadeSession:
        return self.made("small.jsonl", seed=2, size=self.size // FRACTION)

    @cached_property
    def rates(self) -> Rates:
        return Rates(**json.loads(self.module(self.work, "benchmarks.rates", str(self.session.file)).output))

    @cached_property
    def imported(self) -> ImportedHome:
        home = self.new_home()
        session, small = (imported_id(self.import_file(home, made.file), "imported") for made in (self.session, self.small))
        return ImportedHome(home=home, session=session, small=small)

    def new_home(self) -> Path:
        self.homes += 1
        return self.work / f"home-{self.homes}"

    def import_file(self, home: Path, file: Path) -> Usage:
        return measured([sys.executable, "manage.py", "import_sessions", "--json", str(file)], environment=self.environment(home))

    def module(self, home: Path, name: str, *arguments: str) -> Usage:
        return measured([sys.executable, "-m", name, *arguments], environment=self.environment(home))

    def environment(self, home: Path) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
        return {**inherited, "CTXWEB_HOME": str(home), "DJANGO_SETTINGS_MODULE": "ctxweb.settings", "PYTHONPATH": str(BASE_DIR)}

    def made(self, name: str, *, seed: int, size: int, long: float = LONG_RESULTS) -> MadeSession:
        """A session written anew in the folder of the run; `long` is the share of long results."""
        file = self.work / name
        more = min(APPENDED_BYTES, size)
        told = self.module(self.work, "benchmarks.session", str(file), str(seed), str(size), str(more), str(long)).output
        return MadeSession(file=file, counts=json.loads(told))


def imported_id(usage: Usage, status: str) -> str:
    """The public id of the one session that an import told of. Raises BenchFailed unless it has the status."""
    told: list[dict[str, Any]] = [json.loads(line) for line in usage.output.splitlines()]
    if [each["status"] for each in told] != [status]:
        raise BenchFailed(f"the import should have told of one session that is {status}; it told of {told}")
    return str(told[0]["session"])


def median(usages: Sequence[Usage]) -> Usage:
    """The median of each figure by itself."""
    cpu, wall, peak = (statistics.median(getattr(usage, name) for usage in usages) for name in ("cpu_s", "wall_s", "peak_mb"))
    return Usage(cpu_s=cpu, wall_s=wall, peak_mb=peak, output=usages[-1].output)
