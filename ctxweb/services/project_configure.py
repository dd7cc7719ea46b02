"""What a project has: roots of transcripts and artifacts, keys of manifests, how often its sources are verified, and what summaries
may send."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ctxweb.models import Project

_KEY = re.compile(r"[0-9a-f]{64}")


class ProjectRefused(Exception):
    """A setting of a project that cannot be. `field` names it."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


def project_configure(
    *,
    project: Project,
    transcript_roots: Sequence[str] | None = None,
    artifact_roots: Sequence[str] | None = None,
    manifest_keys: Sequence[str] | None = None,
    verify_minutes: int | None = None,
    prefix_summaries: bool | None = None,
) -> Project:
    """Set what is given and leave the rest. Roots become absolute paths of folders that are there; keys are Ed25519 public keys,
    64 hex digits; 0 minutes end the schedule. Raises ProjectRefused, and then nothing is set."""
    if transcript_roots is not None:
        project.transcript_roots = [_root(path, "transcript_roots") for path in transcript_roots]
    if artifact_roots is not None:
        project.artifact_roots = [_root(path, "artifact_roots") for path in artifact_roots]
    if manifest_keys is not None:
        project.manifest_keys = [_key(key) for key in manifest_keys]
    if verify_minutes is not None:
        if verify_minutes < 0:
            raise ProjectRefused(f"verify_minutes is {verify_minutes}: give minutes, or 0 for never", field="verify_minutes")
        project.verify_minutes = verify_minutes or None
    if prefix_summaries is not None:
        project.prefix_summaries = prefix_summaries
    project.save()
    return project


def _root(path: str, field: str) -> str:
    """The folder without links in its path: a look never follows one."""
    try:
        found = Path(path).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise ProjectRefused(f"{field}: {path!r} is not there: name a folder of this machine", field=field) from None
    if not found.is_dir():
        raise ProjectRefused(f"{field}: {path!r} is no folder", field=field)
    return str(found)


def _key(key: str) -> str:
    if not _KEY.fullmatch(key.lower()):
        raise ProjectRefused("manifest_keys: a key is 64 hexadecimal digits, an Ed25519 public key", field="manifest_keys")
    return key.lower()
