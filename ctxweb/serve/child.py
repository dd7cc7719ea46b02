"""Runs the worker or the web server so that it never outlives its supervisor.

The supervisor holds the other end of this process's standard input. When it is gone, however it went, the read
ends, and this process stops itself.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable

STOP_SECONDS = 15  # what is not over by then is killed; jobs go on from their last committed step


def _celery() -> None:
    from ctxweb.celery import app

    app.start(sys.argv[2:])


def _granian() -> None:
    from granian.cli import cli

    cli(sys.argv[2:], prog_name="granian")


PROGRAMS: dict[str, Callable[[], None]] = {"celery": _celery, "granian": _granian}


def end_with_supervisor() -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(STOP_SECONDS)
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=end_with_supervisor, daemon=True, name="end-with-supervisor").start()
    PROGRAMS[sys.argv[1]]()
