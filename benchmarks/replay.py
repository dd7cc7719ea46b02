"""Replay of a session beside the plain engine, which measures everything at every call.

    python -m benchmarks.replay FILE REPS

prints a JSON object for each policy. The session is read once and priced once, as after an import; then each replay is
measured REPS × FAST_REPS times, of which the median of CPU time counts. The plain engine runs once.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from compaction.counters import bpe
from compaction.counters.units import unit_named
from compaction.replay.replayable import Replayable
from compaction.replay.run import replay
from tests.replay_policies import Tried, as_plain, dsh, s08, s14
from tests.replay_sessions import corpus_lane, plain_session

Result = TypeVar("Result")

FAST_REPS = 7
DSH_WINDOW = 60_000  # tokens; with the 200,000 of the session's model the plain engine takes three times as long
POLICIES: tuple[Callable[[], Tried], ...] = (
    lambda: s14(trigger=80_000, hard_limit=120_000),
    lambda: s08(trigger=50_000),
    lambda: dsh(window=DSH_WINDOW),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """CPU seconds of one policy. `priced_s`: pricing the session in the policy's unit, once for all policies that share it.

    `same`: every firing, edit, total and finding is that of the plain engine.
    """

    policy: str
    messages: int
    calls: int
    firings: int
    priced_s: float
    replay_s: float
    plain_s: float
    same: bool


def replayed(session: Replayable, tried: Tried, reps: int) -> Replayed:
    priced_s, transcript = cpu_s(lambda: session.rendered(unit_named(tried.policy.unit)))
    runs = [cpu_s(lambda: replay(session, tried.policy)) for _ in range(1 + reps * FAST_REPS)][1:]
    found = runs[-1][1]
    plain = plain_session(session)
    encode = bpe.encoder("o200k_base")
    encode("loaded")
    plain_s, expected = cpu_s(lambda: tried.expected(plain, lambda text: len(encode(text))))
    return Replayed(
        policy=tried.policy.id,
        messages=len(transcript.messages),
        calls=len(session.calls),
        firings=len({firing.call for firing in found.firings}),
        priced_s=priced_s,
        replay_s=statistics.median(seconds for seconds, _ in runs),
        plain_s=plain_s,
        same=as_plain(found) == expected,
    )


def cpu_s(work: Callable[[], Result]) -> tuple[float, Result]:
    """Without the garbage collector, as `timeit` measures: it would walk the prepared session, not what is measured."""
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        result = work()
        return time.process_time() - start, result
    finally:
        gc.enable()


def all_replayed(file: Path, reps: int) -> Iterator[Replayed]:
    session = corpus_lane(file, "claude_code")
    for policy in POLICIES:
        yield replayed(session, policy(), reps)


if __name__ == "__main__":
    for told in all_replayed(Path(sys.argv[1]), int(sys.argv[2])):
        print(json.dumps(asdict(told)), flush=True)
