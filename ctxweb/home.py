"""The state folder: where everything that is not code lives."""

import fcntl
import hashlib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

SOCKET_PATH_BYTES = 107  # sockaddr_un holds 108 with its closing NUL


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Paths under `root`, which is `$CTXWEB_HOME` or `var/` beside the code."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / "ctxweb.sqlite3"

    @property
    def blobs(self) -> Path:
        return self.root / "blobs"

    @property
    def uploads(self) -> Path:
        """Request bodies on their way in; on the file system of the blobs, so that a rename ends the way."""
        return self.root / "uploads"

    @property
    def static(self) -> Path:
        return self.root / "static"

    @property
    def log(self) -> Path:
        return self.root / "log"

    @property
    def broker(self) -> Path:
        return self.root / "broker"

    @property
    def tiktoken(self) -> Path:
        return self.root / "tiktoken"

    @property
    def lock(self) -> Path:
        return self.root / "serve.lock"

    @property
    def worker_ready(self) -> Path:
        """Exists while a worker takes jobs."""
        return self.root / "worker.ready"

    @property
    def api_token(self) -> Path:
        return self.root / "api-token"

    @property
    def secret_key(self) -> Path:
        return self.root / "secret-key"

    @property
    def audit_key(self) -> Path:
        return self.root / "audit-key"

    @property
    def audit(self) -> Path:
        """Anchors of the audit chains, outside the database."""
        return self.root / "audit"

    @property
    def broker_socket(self) -> Path:
        """The broker's unix socket; in a short private folder where the home's own path is too long for one."""
        inside = self.broker / "broker.sock"
        if len(os.fsencode(inside)) <= SOCKET_PATH_BYTES:
            return inside
        name = hashlib.sha256(os.fsencode(self.root.resolve())).hexdigest()[:16]
        return Path("/tmp") / f"ctxweb-{os.getuid()}-{name}" / "broker.sock"

    def prepare(self) -> None:
        """Make the folders, open to this user only; say so if that cannot be done."""
        try:
            for folder in (self.root, self.blobs, self.uploads, self.static, self.log, self.broker, self.audit):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ImproperlyConfigured(
                f"CTXWEB_HOME: the state folder {self.root} cannot be made ({error.strerror}): name a folder that you can write to."
            ) from error

    def clear_uploads(self) -> None:
        """Remove what requests of a killed web server left; for the one who knows that none is running."""
        for file in self.uploads.iterdir():
            file.unlink(missing_ok=True)

    @contextmanager
    def one_at_a_time(self, name: str) -> Iterator[None]:
        """Wait until no other process of this home is inside of a block of this name."""
        with (self.root / f"{name}.lock").open("a", encoding="ascii") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield

    def secret(self, file: Path) -> str:
        """The secret kept in `file` (mode 600), made at the first call; two processes at once agree on one."""
        if not file.exists():
            self._keep_first(file, secrets.token_urlsafe(48))
        return file.read_text(encoding="ascii").strip()

    def _keep_first(self, file: Path, value: str) -> None:
        descriptor, name = tempfile.mkstemp(dir=self.root, prefix=".secret-")
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as stream:
                stream.write(value + "\n")
            os.link(name, file)
        except FileExistsError:
            return  # another process was first, and its secret stands
        finally:
            os.unlink(name)


def private_folder(folder: Path) -> None:
    """Make `folder` with mode 700, or refuse one that another user could have put there."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise ImproperlyConfigured(f"{folder} is not a folder that only this user can open: remove it, or name a shorter CTXWEB_HOME.")
