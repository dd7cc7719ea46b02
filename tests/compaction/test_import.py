"""The library is worth importing alone: importing it loads no framework and no tokenizer."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.shared import REPO

pytestmark = pytest.mark.nodb

HEAVY = ("django", "celery", "anthropic", "tiktoken", "toktok", "ninja", "redis")
PRINTS_LOADED = "import sys, {module}; print(*sorted(name for name in sys.modules if name in {heavy!r}))"


@pytest.mark.parametrize("module", ["compaction", "compaction.pipeline", "compaction.layers", "compaction.history"])
def test_importing_the_library_loads_no_framework_and_no_tokenizer(module: str) -> None:
    code = PRINTS_LOADED.format(module=module, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
