"""What must hold before the program starts. A wrongly nested option goes unnoticed, so each is read back."""

import os

from django.conf import settings
from django.core.checks import Error, register
from django.core.exceptions import ImproperlyConfigured
from django.db.backends.base.base import BaseDatabaseWrapper

START = "start"  # the tag of the checks that a start makes
SQLITE_IN_FORCE = (
    # pragma, value read back, the setting that gives it
    ("journal_mode", "wal", "PRAGMA journal_mode=WAL in OPTIONS.init_command"),
    ("busy_timeout", 20_000, "OPTIONS.timeout = 20"),
    ("synchronous", 1, "PRAGMA synchronous=NORMAL in OPTIONS.init_command"),
)


@register(START)
def hosts_are_exact(**_: object) -> list[Error]:
    patterns = [host for host in settings.ALLOWED_HOSTS if "*" in host or host.startswith(".")]
    if settings.ALLOWED_HOSTS and not patterns:
        return []
    return [Error("ALLOWED_HOSTS is empty or holds a pattern.", hint="Name each host in full in CTXWEB_ALLOWED_HOSTS.", id="ctxweb.E001")]


@register(START)
def home_is_writable(**_: object) -> list[Error]:
    if os.access(settings.HOME.root, os.W_OK | os.X_OK):
        return []
    return [Error(f"The state folder {settings.HOME.root} is not writable.", hint="Set CTXWEB_HOME to one that is.", id="ctxweb.E002")]


@register(START)
def audit_key_is_private(**_: object) -> list[Error]:
    key = settings.HOME.audit_key
    if not key.exists() or not key.stat().st_mode & 0o077:
        return []
    return [Error(f"Others can read {key}.", hint="Run chmod 600 on it: the key proves who wrote the audit.", id="ctxweb.E003")]


def require_database_in_force(database: BaseDatabaseWrapper) -> None:
    """Read the modes of an open connection back.

    Raises ImproperlyConfigured, naming the setting, when one that the reliability of imports rests on is not in
    force, and Django's database errors when the database does not answer.
    """
    with database.cursor() as cursor:
        if database.vendor != "sqlite":
            cursor.execute("SELECT 1")
            return
        for pragma, expected, setting in SQLITE_IN_FORCE:
            cursor.execute(f"PRAGMA {pragma}")
            found = cursor.fetchone()[0]
            if found != expected:
                raise ImproperlyConfigured(f"SQLite's {pragma} is {found!r}, not {expected!r}: DATABASES needs {setting}.")
    mode = getattr(database, "transaction_mode", None)
    if mode != "IMMEDIATE":
        raise ImproperlyConfigured(f"SQLite's transaction mode is {mode!r}: DATABASES needs OPTIONS.transaction_mode = 'IMMEDIATE'.")
