"""Memory of an import does not grow with its source: at most 200 MB, and 100 MB at most 1.3 × 10 MB."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared import REPO, SHARED, needs_shared

MOST_KIB = 200 * 1024
MOST_RATIO = 1.3
# A process starts with the peak of the one that it was forked from: a small one in between keeps that of the tests out.
MEASURE = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss)
sys.exit(status)
"""


def peak_kib(megabytes: int, folder: Path) -> int:
    """The largest resident size of any process of an import, in KiB."""
    source, home = folder / f"{megabytes}.jsonl", folder / f"home-{megabytes}"
    subprocess.run(
        [sys.executable, SHARED / "bench" / "gen_session.py", source, str(megabytes), "1"], check=True, stdout=subprocess.DEVNULL
    )
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")}
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, sys.executable, "manage.py", "import_sessions", str(source)],
        cwd=REPO,
        env=environment | {"CTXWEB_HOME": str(home)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return int(measured.stdout)


@needs_shared
@pytest.mark.nodb
def test_a_source_of_100_mb_needs_little_more_memory_than_one_of_10(tmp_path: Path) -> None:
    small, large = peak_kib(10, tmp_path), peak_kib(100, tmp_path)
    assert large <= MOST_KIB
    assert large <= MOST_RATIO * small, f"{large} KiB for 100 MB, {small} KiB for 10 MB"
