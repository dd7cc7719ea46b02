"""Importing the session files of a folder of this machine: one job that hands each file to an import of its own."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from django.db import transaction

from ctxweb.jobs import JobRun, job_open, job_ring
from ctxweb.models import Job
from ctxweb.services.durable_import import is_durable_file
from ctxweb.services.importing.errors import ImportRefused
from ctxweb.storage import StorageError

SUFFIXES = (".jsonl", ".json", ".ndjson", ".gz", ".zst", ".zstd", ".zip")
MOST_FILES = 100_000


def folder_enqueue(*, path: str) -> Job:
    """Leave the import of all session files in and below an absolute folder to the workers. Raises ImportRefused."""
    folder = Path(path)
    if not folder.is_absolute():
        raise ImportRefused("not_absolute", "Give the folder by its whole path, from the root of this machine.")
    if not folder.is_dir():
        raise ImportRefused("no_folder", "There is no such folder on this machine, or it cannot be opened.")
    key = hashlib.sha256(f"folder\0{folder}".encode(errors="surrogateescape")).hexdigest()
    with transaction.atomic():
        job = job_open(kind="folder", key=key, params={"name": str(folder)})
        job_ring(job=job)
    return job


def folder_import(run: JobRun) -> None:
    """Store each file and open its import; end with `result = {"files", "refused"}`, the number of files and those not taken.

    Links are not followed. A file that cannot be read is refused with its reason in the log, and the rest goes on.
    """
    from ctxweb.services.session_import import import_enqueue  # it stands on the module that runs this one

    files = _files(Path(str(run.job.params["name"])))
    cursor: dict[str, Any] = run.job.cursor or {"after": "", "files": 0, "refused": 0}
    for file in files:
        if file <= cursor["after"]:
            continue
        try:
            with Path(file).open("rb") as stream:
                import_enqueue(name=file, stream=stream, beside=file)
            cursor["files"] += 1
        except OSError as error:
            cursor["refused"] += 1
            run.note(f"{file} cannot be read ({error.strerror}).")
        except StorageError as error:
            if error.code != "too_large":
                raise
            cursor["refused"] += 1
            run.note(f"{file}: {error}")
        cursor["after"] = file
        with run.commit(stage="storing", unit="files", done=cursor["files"] + cursor["refused"], total=len(files), cursor=cursor):
            pass
    run.end("succeeded", result={"files": cursor["files"], "refused": cursor["refused"]})


def _files(folder: Path) -> list[str]:
    """Regular files with a suffix of `SUFFIXES` in and below `folder`, by name. Raises ImportRefused."""
    found: list[str] = []
    for parent, _, names in os.walk(folder):
        paths = (os.path.join(parent, name) for name in names if name.endswith(SUFFIXES) and not is_durable_file(name))
        found.extend(path for path in paths if not os.path.islink(path) and os.path.isfile(path))
        if len(found) > MOST_FILES:
            raise ImportRefused("too_many_files", f"The folder holds more than {MOST_FILES:,} files: import its parts.")
    if not found:
        raise ImportRefused("no_files", f"The folder holds no file that ends in {', '.join(SUFFIXES)}.")
    return sorted(found)
