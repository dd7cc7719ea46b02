"""`artifact:<session>:<filename>:<digest>` of a project: a file below one of its roots, else a text of the body store.

Where the project has keys, a file counts only if a signed manifest of its folder lists it (`manifest`).
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal, Self

from compaction.errors import SourceSystemError
from compaction.sources.artifact import FOLDERS, ArtifactGrammar, Artifacts
from compaction.sources.base import Bounds, Found
from compaction.sources.files import STRICT, NotFoundSource, Root, checked_file, finding_of, has_changed, pieces
from compaction.sources.pointers import SourcePointer
from compaction.sources.resolution import Finding
from ctxweb.sources.base import ProjectSources
from ctxweb.sources.bodies import body_key, is_spilled, spilled_texts, stored_marks
from ctxweb.sources.manifest import MANIFEST, MOST_MANIFEST_BYTES, SIGNATURE, Listed, ManifestRefused, signed_manifest
from ctxweb.sources.marks import file_mark
from ctxweb.sources.patience import Patient

MISSING = "artifact_missing"
NO_MANIFEST = Finding(status="corrupt", reason="manifest_invalid")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedArtifacts:
    """Artifacts below one root, of which only those count that a signed manifest of their folder lists."""

    artifacts: Artifacts
    keys: tuple[bytes, ...]
    name: Literal["artifact"] = "artifact"

    def parse(self, raw: str) -> SourcePointer:
        return self.artifacts.parse(raw)

    def find(self, session_id: str, pointers: Sequence[SourcePointer], bounds: Bounds) -> list[Found]:
        """The manifest is read once for all pointers of a session, and only where one of them is available."""
        found = self.artifacts.find(session_id, pointers, bounds)
        if not any(isinstance(one, Finding) and one.status == "available" for one in found):
            return found
        listed = self._listed(session_id, bounds)
        return [self._confirmed(one, listed, pointer) for one, pointer in zip(found, pointers, strict=True)]

    def _confirmed(self, found: Found, listed: Mapping[str, Listed], pointer: SourcePointer) -> Found:
        if not isinstance(found, Finding) or found.status != "available":
            return found
        entry = listed.get(pointer.artifact_name or "")
        if entry is None or entry.sha256 != found.evidence_sha256:
            return NO_MANIFEST
        return found if self._size(pointer) == entry.size else NO_MANIFEST

    def _size(self, pointer: SourcePointer) -> int | None:
        """The size of a file whose bytes are proved already; None where it has just gone."""
        try:
            with self.artifacts.root.opened((pointer.session_id, *self.artifacts.folders), pointer.artifact_name or "") as file:
                return os.fstat(file.descriptor).st_size
        except OSError:
            return None

    def _listed(self, session_id: str, bounds: Bounds) -> Mapping[str, Listed]:
        """What the manifest lists; nothing where there is no valid one."""
        bounds.start()
        try:
            manifest, signature = self._read(session_id, MANIFEST, bounds), self._read(session_id, SIGNATURE, bounds)
            return signed_manifest(manifest=manifest, signature=signature, keys=self.keys)
        except (ManifestRefused, NotFoundSource):
            return {}
        except OSError as error:
            finding_of(error, self.name)  # raises where the system could not look
            return {}

    def _read(self, session_id: str, name: str, bounds: Bounds) -> bytes:
        root = self.artifacts.root
        with root.opened((session_id, *self.artifacts.folders), name) as file:
            state = checked_file(file, root, self.name, self.artifacts.rules, MOST_MANIFEST_BYTES)
            read = b"".join(pieces(file.descriptor, state.st_size, bounds))
            if has_changed(state, file):
                raise SourceSystemError("a manifest changed while it was read: try again", cause="changed_manifest")
        return read


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectArtifacts:
    """The roots in their order: the first that has something under the name answers; then the body store."""

    sources: ProjectSources
    roots: tuple[Root, ...]
    name: Literal["artifact"] = "artifact"

    @classmethod
    def of(cls, sources: ProjectSources, opened: ExitStack) -> Self:
        return cls(sources=sources, roots=tuple(opened.enter_context(Root(path)) for path in sources.artifact_roots))

    def parse(self, raw: str) -> SourcePointer:
        return ArtifactGrammar().parse(raw)

    def allows(self, pointer: SourcePointer) -> bool:
        return self.sources.may_see(pointer.session_id)

    def find(self, session_id: str, pointers: Sequence[SourcePointer], bounds: Bounds) -> list[Found]:
        found: dict[str, Found] = {pointer.raw: Finding(status="missing", reason=MISSING) for pointer in pointers}
        for root in self.roots:
            left = [pointer for pointer in pointers if _is_missing(found[pointer.raw])]
            if left:
                answers = Patient(scheme=self._in(root)).find(session_id, left, bounds)
                found |= zip((pointer.raw for pointer in left), answers, strict=True)
        spilled = [pointer for pointer in pointers if is_spilled(pointer) and _is_missing(found[pointer.raw])]
        if spilled and session_id in self.sources.sessions:
            found |= spilled_texts(session_id, spilled, bounds.excerpt_chars)
        return [found[pointer.raw] for pointer in pointers]

    def marks(self, session_id: str, pointers: Sequence[SourcePointer]) -> list[Hashable]:
        stored = stored_marks(session_id, pointers) if session_id in self.sources.sessions else frozenset()
        manifests = tuple(self._file_mark(root, session_id, name) for root in self.roots for name in self._manifest_names)
        return [
            (
                tuple(self._file_mark(root, session_id, pointer.artifact_name or "") for root in self.roots),
                manifests,
                is_spilled(pointer) and body_key(pointer) in stored,
            )
            for pointer in pointers
        ]

    @property
    def _manifest_names(self) -> tuple[str, ...]:
        return (MANIFEST, SIGNATURE) if self.sources.manifest_keys else ()

    def _file_mark(self, root: Root, session_id: str, name: str) -> Hashable:
        return file_mark(root, (session_id, *FOLDERS), name)

    def _in(self, root: Root) -> Artifacts | SignedArtifacts:
        artifacts = Artifacts(root=root, rules=STRICT)
        keys = self.sources.manifest_keys
        return SignedArtifacts(artifacts=artifacts, keys=keys) if keys else artifacts


def _is_missing(found: Found) -> bool:
    return isinstance(found, Finding) and found.status == "missing"
