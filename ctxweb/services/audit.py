"""The audit of a project: what was found behind source pointers, appended to one hash chain and never changed.

Verification calls `resolutions_append`. What an entry is, and how its hash is made, stands in `compaction/sources/chain.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from compaction.sources.resolution import SourceResolution
from ctxweb.models import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """What an append came to: the end of the chain after it, and how many entries it wrote."""

    seq: int
    hash: str
    written: int


def resolutions_append(
    *,
    project: Project,
    resolutions: Sequence[SourceResolution],
    actor: str,
    run: str,
    started_at: datetime,
    finished_at: datetime,
    only_changes: bool = False,
) -> Appended:
    """Append one entry for each resolution, in their order, in one transaction with the head of the chain.

    `actor`: who had it looked up: `schedule`, `watch`, or the name of a person as it was given.
    `run`: the id of the round, the same for all its batches (at most 60 characters); jobs give their public id.
    `started_at`, `finished_at`: when this batch was looked up, with a time zone.
    `only_changes`: for the watch of an open page: writes only what differs (status, reason, digest) from the last entry of its
    pointer. Scheduled and requested checks leave it False and always write.

    Within a caller's transaction (`JobRun.commit`) it becomes part of it: call it last there, because it holds the head's lock
    until the commit. Batches of 500 and more are the cheap way. Excerpts are not written. A `SourceSystemError` is no
    resolution: it never comes here. After the commit a checkpoint goes to the file of anchors when one is due.
    """
    raise NotImplementedError
