"""Child processes: each in a session of its own, so that Ctrl-C in the terminal reaches only the supervisor."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from ctxweb.serve.errors import ChildDied

TAIL_LINES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildPlan:
    """What to start, and how to see that it works."""

    name: str
    command: tuple[str, ...]
    is_healthy: Callable[[], bool]
    stop_seconds: int  # after SIGTERM; then the whole process group is killed


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    plan: ChildPlan
    process: subprocess.Popen[bytes]
    log: Path

    def require_alive(self) -> None:
        """Raises ChildDied, with the end of its log, if the process has ended."""
        code = self.process.poll()
        if code is None:
            return
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        raise ChildDied(f"The {self.plan.name} {how}. The end of {self.log}:\n{tail(self.log)}")

    def stop(self) -> None:
        """Ask the process to end, wait, and leave nothing of its group behind."""
        if self.process.poll() is None:
            self.process.terminate()  # the parent only: a signal to its pool would lose the jobs at work
        with contextlib.suppress(subprocess.TimeoutExpired):  # killed next, with its group
            self.process.wait(timeout=self.plan.stop_seconds)
        kill_group(self.process.pid)
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()


def start(plan: ChildPlan) -> Child:
    """Start the process with its output in a log of this start; the log of the start before is kept beside it."""
    log = settings.HOME.log / f"{plan.name}.log"
    if log.exists():
        log.replace(log.with_suffix(".previous.log"))
    with log.open("wb") as stream:
        process = subprocess.Popen(
            plan.command,
            stdin=subprocess.PIPE,  # its end tells the child that the supervisor is gone
            stdout=stream,
            stderr=subprocess.STDOUT,
            cwd=settings.BASE_DIR,
            env=settings.CHILD_ENVIRONMENT,
            start_new_session=True,
        )
    return Child(plan=plan, process=process, log=log)


def kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


def tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:]
    return "\n".join(f"  {line}" for line in lines) or "  (it is empty)"
