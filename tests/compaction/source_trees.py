"""File trees and resolvers for tests of sources."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from compaction.sources.artifact import Artifacts
from compaction.sources.base import Bounds
from compaction.sources.files import STRICT, FileRules, Root
from compaction.sources.pointers import SourcePointer
from compaction.sources.resolver import Resolver
from compaction.sources.transcript import Transcripts


def everybody(_: SourcePointer) -> bool:
    return True


@contextlib.contextmanager
def resolver(
    folder: Path,
    *,
    authorise: Callable[[SourcePointer], bool] = everybody,
    bounds: Bounds | None = None,
    rules: FileRules = STRICT,
    folders: tuple[str, ...] = ("tool-results",),
    tries: int = 2,
) -> Iterator[Resolver]:
    """A resolver of the roots `transcripts` and `artifacts` in a folder."""
    with Root(folder / "transcripts") as transcripts, Root(folder / "artifacts") as artifacts:
        schemes = (Transcripts(root=transcripts, rules=rules), Artifacts(root=artifacts, rules=rules, folders=folders))
        yield Resolver(schemes=schemes, authorise=authorise, bounds=bounds or Bounds(), tries=tries)


def sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def transcript(folder: Path, session: str, *lines: object) -> list[bytes]:
    """A transcript of JSON lines, or raw ones; returns them without their ends."""
    path = folder / "transcripts" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    written = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"".join(line + b"\n" for line in written))
    return written


def artifact(folder: Path, session: str, name: str, raw: bytes) -> str:
    """An artifact; returns its pointer."""
    path = folder / "artifacts" / session / "tool-results" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return f"artifact:{session}:{name}:{sha256(raw)}"
