"""`make bench`: `python -m benchmarks.run [--only CASE,…] [--reps N] [--requests N] [--size MB] [--json OUT]` (docs/benchmarks.md)."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.cases import CASES, PEERS_FOLDER
from benchmarks.measure import BenchFailed
from benchmarks.peers import PEERS, why_skipped
from benchmarks.rows import Row, table
from ctxweb.settings import HOME

FOLDER = HOME.root / "bench"
LEAST_MB = 0.1  # a tenth of less holds no two calls


def main(given: Sequence[str]) -> int:
    chosen = arguments(given)
    size = int(chosen.size * 1e6)
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix="run-") as folder:
        try:
            told = measure(Bench(work=Path(folder), size=size, reps=chosen.reps, requests=chosen.requests), chosen.only)
        except BenchFailed as error:
            print(error, file=sys.stderr)
            return 1
    out = chosen.json or FOLDER / f"{time.strftime('%Y%m%d-%H%M%S')}-{chosen.size:g}MB.json"
    out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print(f"written to {out}")
    return 1 if told["failed"] else 0


def arguments(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks.run", description="Measure what exists, beside the machine's own rates and the peers."
    )
    parser.add_argument("--only", type=case_names, default=tuple(CASES), metavar="CASE,…", help=f"cases: {','.join(CASES)} (default: all)")
    parser.add_argument(
        "--reps", type=int, default=3, help="repetitions of each command, of which the median counts (default: %(default)s)"
    )
    parser.add_argument("--requests", type=int, default=20, help="how often each page is asked for (default: %(default)s)")
    parser.add_argument("--size", type=float, default=10, metavar="MB", help="size of the generated session (default: %(default)s)")
    parser.add_argument(
        "--json", type=Path, metavar="OUT", help="file for the figures (default: a new one in the state folder, under bench)"
    )
    chosen = parser.parse_args(given)
    if min(chosen.reps, chosen.requests) < 1 or chosen.size < LEAST_MB:
        parser.error(f"--reps and --requests must be at least 1, --size at least {LEAST_MB}")
    return chosen


def case_names(written: str) -> tuple[str, ...]:
    names = tuple(written.split(","))
    unknown = [name for name in names if name not in CASES]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no case {', '.join(unknown)}: choose from {','.join(CASES)}")
    return names


def measure(bench: Bench, names: Sequence[str]) -> dict[str, Any]:
    """All that the JSON file holds; prints the table on the way."""
    started = machine()
    skipped = [why for peer in PEERS if "import" in names and (why := why_skipped(PEERS_FOLDER, peer, bench.size))]
    for line in (f"session: {bench.session.counts}", f"rates, MB a CPU second: {rounded(asdict(bench.rates))}", *skipped):
        print(line, flush=True)
    rows: list[Row] = []
    failed: dict[str, str] = {}
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            rows += list(CASES[name](bench))
        except BenchFailed as error:  # the figures of the others stand
            failed[name] = str(error)
    print(table(rows))
    for name, why in failed.items():
        print(f"{name} failed: {why}", file=sys.stderr)
    return {
        "machine": started,
        "reps": bench.reps,
        "requests": bench.requests,
        "session": bench.session.counts,
        "rates": asdict(bench.rates),
        "skipped": skipped,
        "failed": failed,
        "rows": [row.as_json() for row in rows],
    }


def machine() -> dict[str, Any]:
    """What the figures were taken on, and how busy it was when the run began."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }


def rounded(rates: dict[str, float]) -> dict[str, float]:
    return {name: round(rate, 2) for name, rate in rates.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
