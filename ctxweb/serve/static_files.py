"""Static files: collected, hashed and compressed when they changed."""

import hashlib

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


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
