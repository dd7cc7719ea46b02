"""Bringing the database of a home up to the code, quickly where it is there already."""

from __future__ import annotations

import os
from pathlib import Path

from django.core.management import call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

MIGRATIONS = Path(__file__).resolve().parent.parent / "migrations"


def database_prepare() -> None:
    """Migrate if a migration of ctxweb is not recorded as applied; looks at file names only, so it costs a query."""
    wanted = {name.removesuffix(".py") for name in os.listdir(MIGRATIONS) if name[:4].isdigit() and name.endswith(".py")}
    recorder = MigrationRecorder(connection)
    applied = {name for app, name in recorder.applied_migrations() if app == "ctxweb"} if recorder.has_table() else set()
    if not wanted <= applied:
        call_command("migrate", interactive=False, verbosity=0)
