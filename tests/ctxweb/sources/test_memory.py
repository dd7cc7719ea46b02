"""A large artifact in little memory, in a process of its own that has loaded what a worker has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program import Program
from tests.shared import REPO

pytestmark = [pytest.mark.nodb, pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system tells no peak memory")]
MOST_BYTES = 80 * 1024**2
LOOK = """
import json, re, sys
import django
django.setup()
from ctxweb.models import Project
from ctxweb.services import jobs_run
from ctxweb.sources.resolving import project_resolver
project = Project(id="local", artifact_roots=[sys.argv[1]])
with project_resolver(project=project, pointers=[]) as opened:
    found = opened.resolver.resolve("artifact:s1:large.txt:" + "0" * 12)
peak = re.search("VmHWM: *([0-9]+) kB", open("/proc/self/status").read().replace(chr(9), " "))  # without what the parent had
print(json.dumps([found.reason, int(peak[1]) * 1024]))
"""


def test_two_gigabytes_are_looked_at_within_80_mb(tmp_path: Path) -> None:
    file = tmp_path / "root" / "s1" / "tool-results" / "large.txt"
    file.parent.mkdir(parents=True)
    with file.open("wb") as stream:
        stream.truncate(2 * 1024**3)
    environment = Program(home=tmp_path / "home").environment({"DJANGO_SETTINGS_MODULE": "ctxweb.settings", "CTXWEB_SOURCE_SECONDS": "600"})
    command = [sys.executable, "-c", LOOK, str(tmp_path / "root")]
    done = subprocess.run(command, cwd=REPO, env=environment, capture_output=True, timeout=300, check=True)
    reason, peak = json.loads(done.stdout)
    assert reason == "artifact_digest_mismatch"
    assert peak <= MOST_BYTES
