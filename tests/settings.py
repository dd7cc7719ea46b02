"""The product's settings in a temporary home: no test touches the state of a real one."""

import atexit
import os
import shutil
import tempfile

_HOME = tempfile.mkdtemp(prefix="ctxweb-test-")
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
os.environ["CTXWEB_HOME"] = _HOME

from ctxweb.settings import *  # noqa: E402, F403  the home must be known before the settings are read
from ctxweb.settings import DATABASES, HOME, STORAGES  # noqa: E402

_is_sqlite = "sqlite3" in DATABASES["default"]["ENGINE"]
# A file, not memory: threads and child processes of a test see it, and WAL is in force. On PostgreSQL one database a process.
DATABASES["default"]["TEST"] = {"NAME": str(HOME.root / "test.sqlite3") if _is_sqlite else f"test_ctxweb_{os.getpid()}"}
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
CTXWEB_CLAUDE_ROOTS = []  # no test looks at the sessions of whoever runs it
CTXWEB_CODEX_ROOTS = []
CTXWEB_DSH_ROOTS = []
