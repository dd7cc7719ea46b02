"""The cases: what is measured of what exists. A case gives rows; to add one, add a function and its line in `CASES`."""

from __future__ import annotations

import json
import shutil
import statistics
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

from benchmarks.bench import FRACTION, Bench, imported_id, median
from benchmarks.measure import BenchFailed, Usage
from benchmarks.peers import PEERS, peer_usage, why_skipped
from benchmarks.rows import Row
from ctxweb.settings import HOME

PEERS_FOLDER = HOME.root / "bench" / "peers"
FLOOR_RATIO = 1.3
PEER_CPU_RATIO, PEER_WALL_RATIO = 0.6, 0.5  # of agentsview
PEAK_MB = 150
PEAK_GROWTH = 1.3
AGAIN_SECONDS = 0.3
PAGE_MS, SEARCH_MS = 50, 20
DIFF_MS = 30  # of 1,500 lines
PAGE_GROWTH = 1.2
MOST_POINTER_US = 1e6 / 15_000  # of wall time
SESSIONS, SMALL_SESSION_BYTES = 200, 20_000  # of the sources: fewer where the size is small
USUAL_BYTES = 10_000_000
LARGE_BYTES, LARGE_PEAK_MB = 2 * 1024**3, 80
DIGEST_RATIO = 1 / 0.9
PAGE_BYTES, PAGE_NODES = 100_000, 5_000
REPLAY_SESSION = 2.65  # times the bytes of the session: 5,600 messages where that has 10 MB
REPLAY_LONG = 0.2  # share of long results: 90 firings of workbuddy-s14 with its published limits
REPLAY_RATIO = 1 / 10_000  # of the plain engine, under the first policy


def first_import(bench: Bench) -> Iterator[Row]:
    """Into a fresh home, which includes making its database; each repetition is followed by one of each peer."""
    peers = [peer for peer in PEERS if why_skipped(PEERS_FOLDER, peer, bench.size) is None]
    ours: list[Usage] = []
    theirs: dict[str, list[Usage]] = {peer.name: [] for peer in peers}
    for _ in range(bench.reps):
        ours.append(bench.import_file(bench.new_home(), bench.session.file))
        imported_id(ours[-1], "imported")
        for peer in peers:
            theirs[peer.name].append(peer_usage(PEERS_FOLDER, peer, file=bench.session.file, home=bench.new_home()))
    usage = median(ours)
    floor = bench.rates.floor_s(bench.session.counts["bytes"])
    yield Row(case="import", what="CPU", figure=usage.cpu_s, unit="s", beside="floor", beside_figure=floor, mark=FLOOR_RATIO)
    yield Row(case="import", what="wall", figure=usage.wall_s, unit="s")
    yield Row(case="import", what="largest process", figure=usage.peak_mb, unit="MB", mark=PEAK_MB)
    for name, usages in theirs.items():
        yield from _beside(usage, name, median(usages))


def _beside(usage: Usage, name: str, other: Usage) -> Iterator[Row]:
    marked = name == "agentsview"
    for what, attribute, unit, mark in (
        ("CPU", "cpu_s", "s", PEER_CPU_RATIO),
        ("wall", "wall_s", "s", PEER_WALL_RATIO),
        ("largest process", "peak_mb", "MB", None),
    ):
        figure, beside = getattr(usage, attribute), getattr(other, attribute)
        yield Row(case="import", what=what, figure=figure, unit=unit, beside=name, beside_figure=beside, mark=mark if marked else None)


def again(bench: Bench) -> Iterator[Row]:
    """The same bytes into the home that has them, beside a command that only starts."""
    usages, starts = [], []
    for _ in range(bench.reps):
        usages.append(bench.import_file(bench.imported.home, bench.session.file))
        imported_id(usages[-1], "unchanged")
        starts.append(bench.module(bench.imported.home, "manage", "import_sessions", "--help"))
    usage, start = median(usages), median(starts)
    yield Row(case="again", what="CPU", figure=usage.cpu_s, unit="s", mark=AGAIN_SECONDS)
    yield Row(case="again", what="CPU", figure=usage.cpu_s, unit="s", beside="a start", beside_figure=start.cpu_s)
    yield Row(case="again", what="wall", figure=usage.wall_s, unit="s")


def append(bench: Bench) -> Iterator[Row]:
    """The session after it went on, into a copy of the home that has it."""
    file = bench.grown
    usages = []
    for _ in range(bench.reps):
        home = bench.new_home()
        shutil.copytree(bench.imported.home, home)
        usages.append(bench.import_file(home, file))
        imported_id(usages[-1], "updated")
    usage = median(usages)
    added = file.stat().st_size - bench.session.counts["bytes"]
    most = AGAIN_SECONDS + bench.rates.floor_s(added)
    yield Row(case="append", what=f"CPU, {added / 1e6:.1f} MB more", figure=usage.cpu_s, unit="s", mark=most)
    yield Row(case="append", what="wall", figure=usage.wall_s, unit="s")
    yield Row(case="append", what="largest process", figure=usage.peak_mb, unit="MB", mark=PEAK_MB)


def pages(bench: Bench) -> Iterator[Row]:
    """Each page of the session, beside the same page of the one with a tenth of the bytes."""
    large, small = _asked(bench, "pages")
    for page, beside in zip(large, small, strict=True):
        yield Row(case="pages", what=page["name"], figure=page["p95_ms"], unit="ms", mark=PAGE_MS)
        yield Row(
            case="pages", what=page["name"], figure=page["p95_ms"], unit="ms",
            beside=f"1/{FRACTION} of the session", beside_figure=beside["p95_ms"], mark=PAGE_GROWTH,
        )  # fmt: skip
    for what, unit, mark in (("bytes", "B", PAGE_BYTES), ("nodes", "elements", PAGE_NODES)):
        most = max(large, key=itemgetter(what))
        yield Row(case="pages", what=f"largest: {most['name']}", figure=most[what], unit=unit, mark=mark)


def view(bench: Bench) -> Iterator[Row]:
    """The prompt at calls all over the session."""
    for each in _asked(bench, "view")[0]:
        yield Row(case="view", what=each["name"], figure=each["p95_ms"], unit="ms", mark=PAGE_MS)


def search(bench: Bench) -> Iterator[Row]:
    """The search page over both sessions."""
    for each in _asked(bench, "search")[0]:
        yield Row(case="search", what=each["name"], figure=each["p95_ms"], unit="ms", mark=SEARCH_MS)


def _asked(bench: Bench, case: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The answers for the session, and those for the small one."""
    home = bench.imported
    answers = json.loads(bench.module(home.home, "benchmarks.ask", case, str(bench.requests), home.session, home.small).output)
    half = len(answers) // 2
    return answers[:half], answers[half:]


def memory(bench: Bench) -> Iterator[Row]:
    """Whether the largest process of an import grows with the file."""
    peaks = []
    for made in (bench.session, bench.small):
        peaks.append(median([bench.import_file(bench.new_home(), made.file) for _ in range(bench.reps)]).peak_mb)
    large, small = peaks
    beside = f"1/{FRACTION} of the session"
    yield Row(case="memory", what="largest process", figure=large, unit="MB", beside=beside, beside_figure=small, mark=PEAK_GROWTH)


def replays(bench: Bench) -> Iterator[Row]:
    """Three policies over a session that is read and priced already, beside an engine that measures everything at every call."""
    made = bench.made("replay.jsonl", seed=3, size=round(REPLAY_SESSION * bench.size), long=REPLAY_LONG)
    output = bench.module(bench.work, "benchmarks.replay", str(made.file), str(bench.reps)).output
    for place, line in enumerate(output.splitlines()):
        told = json.loads(line)
        if not told["same"]:
            raise BenchFailed(f"the replay under {told['policy']} is not that of the plain engine")
        what = f"{told['policy']}: {told['messages']:,} messages, {told['calls']:,} calls, {told['firings']:,} firings"
        replay_ms, plain_ms = 1000 * told["replay_s"], 1000 * told["plain_s"]
        yield Row(
            case="replay", what=what, figure=replay_ms, unit="ms",
            beside="plain engine", beside_figure=plain_ms, mark=None if place else REPLAY_RATIO,
        )  # fmt: skip
        yield Row(case="replay", what=f"{told['policy']}: times faster", figure=plain_ms / replay_ms, unit="×")
        yield Row(case="replay", what=f"{told['policy']}: pricing the session once", figure=1000 * told["priced_s"], unit="ms")


def sources(bench: Bench) -> Iterator[Row]:
    """Many small sources by two workers, into the audit; and a large one, beside the standard library's own digest."""
    home = bench.new_home()
    bench.module(home, "benchmarks.sources", "prepare", str(min(SESSIONS, bench.size // SMALL_SESSION_BYTES)))
    told = [json.loads(bench.module(home, "benchmarks.sources", "verify").output) for _ in range(bench.reps)]
    for what, figure, mark in (("wall", "seconds", MOST_POINTER_US), ("CPU of both", "cpu_s", 2 * MOST_POINTER_US)):
        each_us = statistics.median(run[figure] / run["pointers"] * 1e6 for run in told)
        yield Row(case="sources", what=f"a pointer, two workers, {what}", figure=each_us, unit="µs", mark=mark)
    folder, large = bench.work / "artifacts", min(LARGE_BYTES, bench.size * LARGE_BYTES // USUAL_BYTES)
    looks = [bench.module(home, "benchmarks.sources", "artifact", str(folder), str(large)) for _ in range(bench.reps)]
    times = [json.loads(look.output) for look in looks]
    seconds, beside = (statistics.median(run[name] for run in times) for name in ("seconds", "hashlib"))
    yield Row(case="sources", what="a large one, CPU", figure=seconds, unit="s", beside="hashlib", beside_figure=beside, mark=DIGEST_RATIO)
    yield Row(case="sources", what="a large one, largest process", figure=median(looks).peak_mb, unit="MB", mark=LARGE_PEAK_MB)
    shutil.rmtree(folder)


def diffs(bench: Bench) -> Iterator[Row]:
    """Two checkpoints; and shorter ones beside a difference of all their words."""
    told = json.loads(bench.module(bench.work, "benchmarks.diff", str(bench.reps)).output)
    yield Row(case="diff", what=f"{told['lines']:,} lines, CPU", figure=1000 * told["diff_s"], unit="ms", mark=DIFF_MS)
    yield Row(
        case="diff", what=f"{told['few_lines']:,} lines, CPU", figure=1000 * told["few_diff_s"], unit="ms",
        beside="difflib by words", beside_figure=1000 * told["few_words_s"],
    )  # fmt: skip


CASES: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "import": first_import,
    "again": again,
    "append": append,
    "pages": pages,
    "view": view,
    "search": search,
    "memory": memory,
    "replay": replays,
    "diff": diffs,
    "sources": sources,
}
