"""Anchors of a project's chain in a file outside the database: what they vouch for cannot be cut or written again unseen.

One JSON line an anchor, `{"at": time, "head": "NUMBER:HASH"}`, only ever appended and synced.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings

from compaction.sources.chain import Head

EVERY_ENTRIES = 64
EVERY = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """An anchor: the chain's head at that time."""

    at: str
    head: Head


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorRow:
    at: str
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorsWindow:
    """Anchors, the oldest first; `next` is the number of the entry to go on after."""

    project: str
    anchors: tuple[AnchorRow, ...]
    next: str | None


def anchors_window(*, project_id: str, after: int, limit: int) -> AnchorsWindow:
    """The first `limit` anchors behind entry `after`."""
    found = [anchor for anchor in anchors_read(project_id=project_id) if anchor.head.seq > after]
    shown = found[:limit]
    rows = tuple(AnchorRow(at=anchor.at, head=str(anchor.head)) for anchor in shown)
    return AnchorsWindow(project=project_id, anchors=rows, next=str(shown[-1].head.seq) if len(found) > limit else None)


def anchors_file(*, project_id: str) -> Path:
    return settings.HOME.audit / f"{project_id}.anchors.jsonl"


def anchors_read(*, project_id: str) -> Iterator[Anchor]:
    """The anchors, the oldest first. A line that a crash cut short is passed over; nothing vouches for it."""
    file = anchors_file(project_id=project_id)
    if not file.exists():
        return
    with file.open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            anchor = _read(line)
            if anchor is not None:
                yield anchor


def anchor_if_due(*, project_id: str, head: Head, now: datetime) -> bool:
    """Append an anchor if the last one is 64 entries or 10 minutes behind. Call it when `head` is committed."""
    with settings.HOME.one_at_a_time(f"audit-{project_id}"):
        last = _last(anchors_file(project_id=project_id))
        if last is not None and (head.seq <= last.head.seq or not _is_due(last, head, now)):
            return False
        _append(anchors_file(project_id=project_id), {"at": now.isoformat(), "head": str(head)})
        return True


def _is_due(last: Anchor, head: Head, now: datetime) -> bool:
    return head.seq - last.head.seq >= EVERY_ENTRIES or now - datetime.fromisoformat(last.at) >= EVERY


def _last(file: Path) -> Anchor | None:
    """The last whole line, from the end of the file."""
    if not file.exists():
        return None
    with file.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - 4096))
        tail = stream.read().decode("ascii", "replace").splitlines()
    return next((anchor for anchor in map(_read, reversed(tail)) if anchor is not None), None)


def _append(file: Path, line: dict[str, str]) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    is_new = not file.exists()
    descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        is_cut = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        os.write(descriptor, b"\n" * is_cut + json.dumps(line, sort_keys=True).encode("ascii") + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_new:
        _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(line: str) -> Anchor | None:
    try:
        given = json.loads(line)
        datetime.fromisoformat(given["at"])
        return Anchor(at=given["at"], head=Head.read(given["head"]))
    except (ValueError, TypeError, KeyError):
        return None
