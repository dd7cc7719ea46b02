"""One command in a process of its own, with what the kernel says that it and the processes it waited for took."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxweb.settings import BASE_DIR

MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024  # the unit of ru_maxrss
TOLD_BYTES = 1_000  # of what a failed command said last


class BenchFailed(Exception):
    """A measured command did not do its work; the message names it and ends with what it said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """CPU and wall time in seconds; `peak_mb`: resident memory of the largest single process, in MB of 10⁶ bytes."""

    cpu_s: float
    wall_s: float
    peak_mb: float
    output: bytes


def measured(command: Sequence[str], *, environment: Mapping[str, str]) -> Usage:
    """Run the command to its end. Raises BenchFailed unless it ends with 0."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as told:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=told, env=environment, cwd=BASE_DIR)
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()  # Ctrl-C: nothing goes on in a folder that is removed
            raise
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)  # nobody else waits for it
        out.seek(0)
        told.seek(0)
        if child.returncode:
            raise BenchFailed(f"{' '.join(command)} ended with {child.returncode}: {told.read()[-TOLD_BYTES:].decode(errors='replace')}")
        peak = usage.ru_maxrss * MAXRSS_BYTES / 1e6
        return Usage(cpu_s=usage.ru_utime + usage.ru_stime, wall_s=wall, peak_mb=peak, output=out.read())
