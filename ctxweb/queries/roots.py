"""The roots of a project that are not there: what lies below them answers `missing`, and nobody can tell it from a loss."""

from __future__ import annotations

import os
from pathlib import Path

from ctxweb.models import Project


def absent_roots(project: Project) -> tuple[str, ...]:
    """The configured folders that are no folders now, or that this program may not read; as absolute paths."""
    roots = dict.fromkeys((*project.transcript_roots, *project.artifact_roots))
    return tuple(root for root in roots if not (Path(root).is_dir() and os.access(root, os.R_OK | os.X_OK)))


def absence_told(project: Project) -> str:
    """A sentence for people, empty where every root is there."""
    absent = absent_roots(project)
    if not absent:
        return ""
    which = f"{absent[0]} and {len(absent) - 1:,} more roots" if len(absent) > 1 else f"The root {absent[0]}"
    return f"{which} of project {project.pk} cannot be read: sources below answer missing. Mount it, or set another: manage.py project."
