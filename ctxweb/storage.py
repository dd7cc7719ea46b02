"""Raw bytes: content-addressed, written once, fsynced.

A blob is a file `<home>/blobs/<first two digits>/<sha256>`. It is written under a temporary name on the same file system
while it is hashed, then synced, renamed, and its folder synced: a name that exists is a whole blob, whenever the
machine stopped.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

PIECE_BYTES = 1024**2
TEMPORARY_PREFIX = ".incoming-"
_FULL = (errno.ENOSPC, errno.EDQUOT)


class StorageError(Exception):
    """Raw bytes could not be kept or read. `code` is for programs, the message says what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """Raw bytes in the store: their SHA-256 in hex and their number."""

    sha256: str
    size: int

    @property
    def path(self) -> Path:
        return blob_path(self.sha256)


def blob_path(sha256: str) -> Path:
    return Path(settings.HOME.blobs) / sha256[:2] / sha256


def blob_write(*, stream: BinaryIO) -> Blob:
    """Keep all bytes of `stream`; the same bytes again cost one read and change nothing.

    Raises StorageError `too_large` above CTXWEB_MAX_UPLOAD_BYTES, `disk_full`, `unwritable`.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=settings.HOME.blobs, prefix=TEMPORARY_PREFIX)
        try:
            with os.fdopen(descriptor, "wb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)  # tells `leftovers_remove` that a writer lives
                blob = _copy(stream, file)
                file.flush()
                os.fsync(file.fileno())
                _publish(Path(name), blob.path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
    except OSError as error:
        raise _storage_error(error) from error
    return blob


def blob_read(*, sha256: str) -> BufferedReader:
    """The bytes of a blob, open for reading. Raises StorageError `missing`."""
    try:
        return blob_path(sha256).open("rb")
    except FileNotFoundError:
        raise StorageError(
            "missing",
            f"The raw bytes {sha256[:12]}… are not in the store {settings.HOME.blobs}: restore them from a backup, or import again.",
        ) from None


def blob_delete(*, sha256: str) -> None:
    """Remove a blob; one that is not there is no error."""
    blob_path(sha256).unlink(missing_ok=True)


def blob_verify(*, sha256: str) -> bool:
    """Whether the blob is there and its bytes still have its name as hash; reads all of it."""
    try:
        with blob_read(sha256=sha256) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == sha256
    except StorageError:
        return False


def blob_names() -> Iterator[str]:
    """The SHA-256 of every blob in the store, in no order."""
    for path in Path(settings.HOME.blobs).glob("??/*"):
        yield path.name


def leftovers_remove(*, older_than: float = 60) -> int:
    """Remove temporary files of at least `older_than` seconds whose writer has died; returns how many there were."""
    removed = 0
    for path in Path(settings.HOME.blobs).glob(f"{TEMPORARY_PREFIX}*"):
        with contextlib.suppress(FileNotFoundError, BlockingIOError), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if time.time() - path.stat().st_mtime >= older_than:
                path.unlink()
                removed += 1
    return removed


def _copy(stream: BinaryIO, file: BinaryIO) -> Blob:
    digest, size = hashlib.sha256(), 0
    while piece := stream.read(PIECE_BYTES):
        size += len(piece)
        if size > settings.CTXWEB_MAX_UPLOAD_BYTES:
            raise StorageError(
                "too_large",
                f"The source is larger than {settings.CTXWEB_MAX_UPLOAD_BYTES:,} bytes: raise CTXWEB_MAX_UPLOAD_BYTES to import it.",
            )
        digest.update(piece)
        file.write(piece)
    return Blob(sha256=digest.hexdigest(), size=size)


def _publish(temporary: Path, final: Path) -> None:
    final.parent.mkdir(mode=0o700, exist_ok=True)
    os.rename(temporary, final)
    for folder in (final.parent, final.parent.parent):
        _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _storage_error(error: OSError) -> StorageError:
    if error.errno in _FULL:
        return StorageError(
            "disk_full", f"No space is left under {settings.HOME.blobs}: free some, then import again; what is stored already is kept."
        )
    return StorageError("unwritable", f"The store {settings.HOME.blobs} cannot be used ({error.strerror}): make it readable and writable.")
