"""What a scheme of a project is: the scheme of `compaction.sources.base`, with what belongs to the project and nothing else."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol, Self

from compaction.errors import SourcePointerError
from compaction.sources.artifact import TextCheck
from compaction.sources.base import Bounds, Scheme
from compaction.sources.files import NotFoundSource
from compaction.sources.pointers import SourcePointer
from compaction.sources.resolution import Finding
from ctxweb.configured import Repository, Store

_NAME = re.compile(r"[A-Za-z0-9_.+@=,~-]{1,200}")

CHANGING = None
"""The mark of a source that tells no state: it is looked at in full each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSession:
    """A session of this database: whose it is, and where its records lie. `source` is the id of its source, None while it has
    none; `sha256` and `member` name the stored bytes, `is_plain` says that these are the stream that offsets mean."""

    project: str
    source: int | None = None
    sha256: str = ""
    member: str = ""
    is_plain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSources:
    """What a project may look at: folders, stores, repositories, keys (Ed25519 public keys of manifests), and the sessions of
    this database among those that the pointers of a run name, whosever they are."""

    project: str
    transcript_roots: tuple[str, ...] = ()
    artifact_roots: tuple[str, ...] = ()
    manifest_keys: tuple[bytes, ...] = ()
    stores: Mapping[str, Store] = field(default_factory=dict)
    repositories: Mapping[str, Repository] = field(default_factory=dict)
    sessions: Mapping[str, ImportedSession] = field(default_factory=dict)

    def may_see(self, session_id: str) -> bool:
        """A session of this project, or one that nobody has: that is missing, and nobody learns more by it."""
        known = self.sessions.get(session_id)
        return known is None or known.project == self.project


class ProjectScheme(Scheme, Protocol):
    """A scheme over what a project has. It decides by its configuration alone whether a pointer may be looked at."""

    @classmethod
    def of(cls, sources: ProjectSources, opened: ExitStack) -> Self:
        """The scheme of a run; what it holds open is closed with `opened`."""

    def allows(self, pointer: SourcePointer) -> bool:
        """Whether the pointer names what is this project's. Asks no file, no database and no network."""

    def marks(self, session_id: str, pointers: Sequence[SourcePointer]) -> list[Hashable]:
        """A cheap state of each source, that differs when it was touched; `CHANGING` where there is none. May raise
        SourceSystemError."""


def checked_path(text: str, component: str) -> str:
    """Names between slashes, none of them `.` or `..`. No path is made of them: a store gets them as one key, a tree is walked.
    Raises SourcePointerError."""
    for name in text.split("/"):
        if not _NAME.fullmatch(name) or name in (".", ".."):
            raise SourcePointerError(f"the {component} of a pointer has a name that none can have", code="pointer_component_invalid")
    return text


def verified_text(chunks: Iterator[bytes], bounds: Bounds, *, kind: str, digest: str | None = None) -> Finding:
    """What bytes in pieces come to: available if they are UTF-8 and their SHA-256 begins with `digest`.

    `kind` is the word of the reasons. Raises what reading raises, and SourceSystemError at the end of the bounds.
    """
    hashed, text = hashlib.sha256(), TextCheck(bounds.excerpt_chars)
    for chunk in chunks:
        bounds.spend(len(chunk))
        hashed.update(chunk)
        text.add(chunk)
    found = hashed.hexdigest()
    if digest is not None and not found.startswith(digest):
        raise NotFoundSource("corrupt", f"{kind}_digest_mismatch")
    if not text.is_utf8():
        raise NotFoundSource("corrupt", f"{kind}_not_utf8")
    return Finding(status="available", reason=f"verified_{kind}", evidence_sha256=found, excerpt=text.excerpt)
