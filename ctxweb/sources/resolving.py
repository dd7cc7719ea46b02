"""The resolver of a project: all schemes over what it has, the policy that is asked first, and the bounds of a run.

The policy knows its answers before the first pointer is looked at: whose sessions the pointers name is asked once, for all
of them. So a refusal touches no file, no database and no network.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from django.conf import settings

from compaction.errors import SourcePointerError, SourceSystemError
from compaction.sources.base import Bounds
from compaction.sources.parse import parse_source_pointer
from compaction.sources.pointers import SourcePointer
from compaction.sources.resolver import Resolver
from ctxweb.models import Project, Session
from ctxweb.sources import SCHEMES
from ctxweb.sources.base import CHANGING, ImportedSession, ProjectScheme, ProjectSources

SESSIONS_AT_ONCE = 500
LEAST_EXCERPT = 1  # character, where a scheme makes one as it reads


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectResolver:
    """A project's schemes, open, with their resolver."""

    schemes: tuple[ProjectScheme, ...]
    resolver: Resolver

    def parsed(self, pointer: str) -> SourcePointer | None:
        """The pointer, if it is one of a scheme that there is."""
        try:
            return parse_source_pointer(pointer, self.schemes)
        except SourcePointerError:
            return None

    def marks(self, pointers: Iterable[str]) -> dict[str, Hashable]:
        """The mark of each pointer that may be looked at; `CHANGING` where its state could not be told."""
        groups: dict[tuple[str, str], list[SourcePointer]] = {}
        found: dict[str, Hashable] = {}
        for text in pointers:
            pointer = self.parsed(text)
            if pointer is None or self.resolver.authorise(pointer) is not True:
                found[text] = "refused"
            else:
                groups.setdefault((pointer.kind, pointer.session_id), []).append(pointer)
        for (kind, session_id), group in groups.items():
            scheme = next(scheme for scheme in self.schemes if scheme.name == kind)
            found |= zip((pointer.raw for pointer in group), _marks(scheme, session_id, group), strict=True)
        return found


@contextmanager
def project_resolver(*, project: Project, pointers: Sequence[str], excerpt_chars: int = 0) -> Iterator[ProjectResolver]:
    """The resolver for these pointers, and for no others. `excerpt_chars`: 0 where nobody will read an excerpt."""
    with ExitStack() as opened:
        sources = project_sources(project=project, pointers=pointers)
        schemes = tuple(scheme.of(sources, opened) for scheme in SCHEMES)
        allowing = {scheme.name: scheme for scheme in schemes}
        resolver = Resolver(
            schemes=schemes,
            authorise=lambda pointer: allowing[pointer.kind].allows(pointer),
            bounds=Bounds(
                excerpt_chars=excerpt_chars or LEAST_EXCERPT,
                excerpts=excerpt_chars > 0,
                most_source_bytes=settings.CTXWEB_SOURCE_BYTES,
                seconds=settings.CTXWEB_SOURCE_SECONDS,
                clock=time.monotonic,
            ),
        )
        yield ProjectResolver(schemes=schemes, resolver=resolver)


def project_sources(*, project: Project, pointers: Sequence[str]) -> ProjectSources:
    """What the project has, with the sessions that the pointers name."""
    configured = settings.CTXWEB_SOURCES
    return ProjectSources(
        project=project.pk,
        transcript_roots=tuple(project.transcript_roots),
        artifact_roots=tuple(project.artifact_roots),
        manifest_keys=tuple(bytes.fromhex(key) for key in project.manifest_keys),
        stores={name: store for name, store in configured.stores.items() if project.pk in store.prefixes},
        repositories={name: one for name, one in configured.repositories.items() if project.pk in one.projects},
        sessions=imported_sessions(_session_ids(pointers)),
    )


def imported_sessions(public_ids: Sequence[str]) -> Mapping[str, ImportedSession]:
    """The sessions of this database among these ids, whosever they are."""
    found: dict[str, ImportedSession] = {}
    for start in range(0, len(public_ids), SESSIONS_AT_ONCE):
        rows = Session.objects.filter(public_id__in=public_ids[start : start + SESSIONS_AT_ONCE]).values_list(
            "public_id", "project_id", "current__source_id", "current__source__sha256", "current__source__member",
            "current__source__stream_sha256",
        )  # fmt: skip
        for public_id, project, source, sha256, member, stream in rows:
            found[public_id] = ImportedSession(
                project=project, source=source, sha256=sha256 or "", member=member or "", is_plain=not member and sha256 == stream
            )
    return found


def _session_ids(pointers: Iterable[str]) -> list[str]:
    """What stands where a session stands. Only text is cut here: whether it is a pointer, its scheme decides."""
    parts = (pointer.split(":", 2) for pointer in pointers)
    return list({part[1] for part in parts if len(part) == 3 and _can_be_one(part[1])})


def _can_be_one(session_id: str) -> bool:
    return session_id.isascii() and session_id.isprintable() and len(session_id) <= 200


def _marks(scheme: ProjectScheme, session_id: str, group: Sequence[SourcePointer]) -> list[Hashable]:
    try:
        return scheme.marks(session_id, group)
    except SourceSystemError:
        return [CHANGING] * len(group)
