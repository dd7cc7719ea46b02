"""What a start does before anything serves: the checks, the tables, the static files."""

import hashlib

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.checks import ERROR, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import Error as DatabaseError
from django.db import connection

from ctxweb.checks import START, require_database_in_force
from ctxweb.serve.errors import StartRefused
from ctxweb.serve.lock import one_at_a_time


def prepare_database() -> None:
    """Bring the tables up to date. Raises StartRefused when the database is away or its modes are not in force."""
    failed = [message for message in run_checks(tags=[START]) if message.level >= ERROR]
    if failed:
        raise StartRefused("\n".join(str(message) for message in failed))
    try:
        require_database_in_force(connection)
        with one_at_a_time(settings.HOME, "migrate"):
            call_command("migrate", interactive=False, verbosity=0)
    except (DatabaseError, ImproperlyConfigured) as error:
        raise StartRefused(f"The database is not ready: {str(error).strip()}") from error
    finally:
        connection.close()


def prepare_static() -> None:
    """Collect, hash and compress the static files, if any changed since the last start."""
    mark = settings.HOME.root / "static.fingerprint"
    current = static_fingerprint()
    if mark.exists() and mark.read_text(encoding="ascii") == current:
        return
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    mark.write_text(current, encoding="ascii")


def static_fingerprint() -> str:
    """A digest over the names, sizes and times of all static files."""
    digest = hashlib.sha256(str(settings.STATIC_ROOT).encode())
    for finder in get_finders():
        for name, storage in sorted(finder.list([]), key=lambda found: str(found[0])):
            digest.update(f"{name}\0{storage.size(name)}\0{storage.get_modified_time(name).timestamp()}\n".encode())
    return digest.hexdigest()
