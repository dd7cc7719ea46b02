"""Bringing the database of a home up to the code, quickly where it is there already."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from django.conf import settings
from django.core.checks import ERROR, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from ctxweb.append_only import triggers, triggers_create, triggers_found
from ctxweb.checks import START, require_database_in_force

MIGRATIONS = Path(__file__).resolve().parent.parent / "migrations"

_log = logging.getLogger(__name__)


class DatabaseNotReady(CommandError):
    """Nothing was changed; the message names the setting or the fault. A command shows it without a traceback."""


def database_prepare() -> None:
    """Check the installation, read the database's modes back, and migrate if a migration is not applied yet.

    Looks at the names of the migrations only, so it costs a query where nothing is to do. Raises DatabaseNotReady.
    """
    failed = [str(message) for message in run_checks(tags=[START]) if message.level >= ERROR]
    if failed:
        raise DatabaseNotReady("\n".join(failed))
    try:
        require_database_in_force(connection)
        with settings.HOME.one_at_a_time("migrate"):
            _migrate()
            _restore_triggers()
    except (DatabaseError, ImproperlyConfigured) as error:
        raise DatabaseNotReady(f"The database is not ready: {str(error).strip()}") from error


def _migrate() -> None:
    wanted = {name.removesuffix(".py") for name in os.listdir(MIGRATIONS) if name[:4].isdigit() and name.endswith(".py")}
    recorder = MigrationRecorder(connection)
    applied = {name for app, name in recorder.applied_migrations() if app == "ctxweb"} if recorder.has_table() else set()
    if not wanted <= applied:
        call_command("migrate", interactive=False, verbosity=0)


def _restore_triggers() -> None:
    """Put back what keeps tables append-only: somebody took it away, or SQLite did when it made a table anew."""
    gone = set(triggers(connection.vendor)) - triggers_found(connection)
    if gone:
        _log.warning("%d triggers of tables that only grow were gone and are back: run `manage.py verify_audit`", len(gone))
        triggers_create(connection)
