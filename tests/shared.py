"""Where the shared specifications are, for the tests that read them."""

from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
SHARED = REPO.parent / "shared"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared specifications and corpus are not beside this checkout")
