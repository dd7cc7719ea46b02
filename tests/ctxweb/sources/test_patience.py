"""A look that hangs in the system stops no run."""

from __future__ import annotations

import threading
import time

import pytest

from compaction.errors import SourceSystemError
from compaction.sources.base import Bounds
from compaction.sources.resolution import Finding
from ctxweb.sources.patience import MOST_THREADS, waited_for

pytestmark = pytest.mark.nodb
FOUND = [Finding(status="missing", reason="artifact_missing")]


def bounds() -> Bounds:
    made = Bounds(clock=time.monotonic)
    made.start()
    return made


def test_a_hanging_look_is_an_error_and_later_ones_go_on() -> None:
    gates = [threading.Event() for _ in range(MOST_THREADS)]
    for gate in gates:
        with pytest.raises(SourceSystemError, match="nothing of a source was read"):
            waited_for(lambda gate=gate: FOUND if gate.wait(60) else [], bounds=bounds(), seconds=0.05)  # type: ignore[arg-type, misc]
    with pytest.raises(SourceSystemError, match="every look at a source hangs"):
        waited_for(lambda: list(FOUND), bounds=bounds(), seconds=0.05)
    for gate in gates:
        gate.set()
    assert waited_for(lambda: list(FOUND), bounds=bounds(), seconds=30) == FOUND


def test_a_look_that_moves_is_waited_for() -> None:
    given = bounds()

    def slow() -> list[Finding | SourceSystemError]:
        for _ in range(10):
            time.sleep(0.03)
            given.spend(1)
        return list(FOUND)

    assert waited_for(slow, bounds=given, seconds=0.2) == FOUND


def test_what_a_look_raises_is_raised() -> None:
    def failing() -> list[Finding | SourceSystemError]:
        raise SourceSystemError("no", cause="EMFILE")

    with pytest.raises(SourceSystemError, match="no"):
        waited_for(failing, bounds=bounds(), seconds=30)
