"""Other programs can read session files with the importers alone: neither the web framework nor anything of the site is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ctxweb.importers import IMPORTERS
from tests.shared import REPO

pytestmark = pytest.mark.nodb

PROGRAM = """
import sys
for name in ("django", "celery", "redis", "ninja"):
    sys.modules[name] = None  # importing it raises ImportError
from ctxweb.importers import IMPORTERS
from ctxweb.importers.dsh import load_log
print(",".join(importer.id for importer in IMPORTERS))
print(",".join(name for name in sys.modules if name.startswith("ctxweb.") and not name.startswith("ctxweb.importers")))
"""


def test_importers_work_in_a_process_without_django() -> None:
    told = subprocess.run([sys.executable, "-c", PROGRAM], cwd=REPO, capture_output=True, text=True, timeout=60, check=True).stdout
    ids, others = told.split("\n")[:2]
    assert ids.split(",") == [importer.id for importer in IMPORTERS]
    assert others == ""
