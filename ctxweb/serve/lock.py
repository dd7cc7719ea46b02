"""One supervisor a home: a lock that the system itself releases when its holder dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ctxweb.home import Home
from ctxweb.serve.errors import StartRefused


@contextmanager
def only_supervisor(home: Home) -> Iterator[None]:
    """Hold the home's lock; raises StartRefused, with the holder's process id, when another holds it."""
    with home.lock.open("a+", encoding="ascii") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.seek(0)
            holder = stream.read().strip() or "unknown"
            raise StartRefused(
                f"{home.root} is being served already, by process {holder}: use that one, end it, or set CTXWEB_HOME to another folder."
            ) from None
        stream.truncate(0)
        stream.write(f"{os.getpid()}\n")
        stream.flush()
        yield
