"""Commits that are on the disk when they return."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def synced() -> Iterator[None]:
    """One transaction whose commit SQLite syncs to the disk; PostgreSQL always does. Within another it is part of that one."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        with transaction.atomic():
            yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous")
        (usual,) = cursor.fetchone()
        cursor.execute("PRAGMA synchronous=FULL")
        try:
            with transaction.atomic():
                yield
        finally:
            cursor.execute(f"PRAGMA synchronous={int(usual)}")
