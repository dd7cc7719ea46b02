"""`artifact:<session>:<filename>:<digest>`: a file of a session's folder, proved by its SHA-256."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compaction.errors import SourcePointerError, SourceSystemError
from compaction.sources.base import Bounds, Found
from compaction.sources.files import STRICT, FileRules, NotFoundSource, Root, checked_file, has_changed, look, pieces
from compaction.sources.pointers import SourcePointer, checked_component, checked_digest
from compaction.sources.resolution import Finding

FOLDERS = ("tool-results",)  # below a session's folder; a setting of the root


class ArtifactGrammar:
    """How pointers of this scheme are written."""

    name: Literal["artifact"] = "artifact"

    def parse(self, raw: str) -> SourcePointer:
        parts = raw.split(":")
        if len(parts) != 4:
            raise SourcePointerError("an artifact pointer is artifact:<session>:<filename>:<digest>", code="artifact_pointer_shape")
        return SourcePointer(
            raw=raw,
            kind=self.name,
            session_id=checked_component(parts[1], "session"),
            artifact_name=checked_component(parts[2], "filename"),
            digest_prefix=checked_digest(parts[3]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifacts:
    """Artifacts below one root: `<root>/<session>/<folders…>/<filename>`."""

    root: Root
    folders: tuple[str, ...] = FOLDERS
    rules: FileRules = STRICT
    name: Literal["artifact"] = "artifact"

    def parse(self, raw: str) -> SourcePointer:
        return ArtifactGrammar().parse(raw)

    def find(self, session_id: str, pointers: Sequence[SourcePointer], bounds: Bounds) -> list[Found]:
        """Each pointer by itself: a file that the machine could not look at does not touch the others."""
        found: list[Found] = []
        for pointer in pointers:
            try:
                found.append(self._find(pointer, bounds))
            except SourceSystemError as error:
                found.append(error)
        return found

    def _find(self, pointer: SourcePointer, bounds: Bounds) -> Finding:
        """A file that changed while it was read is read once more; then it is corrupt, whatever it holds."""
        bounds.start()
        finding = look(lambda: [self._read(pointer, bounds)], self.name, 1)[0]
        if finding.reason != "changed_during_read":
            return finding
        again = look(lambda: [self._read(pointer, bounds)], self.name, 1)[0]
        return Finding(status="missing", reason="source_disappeared") if again.status == "missing" else again

    def _read(self, pointer: SourcePointer, bounds: Bounds) -> Finding:
        digest, text = hashlib.sha256(), TextCheck(bounds.excerpt_chars)
        with self.root.opened((pointer.session_id, *self.folders), pointer.artifact_name or "") as file:
            state = checked_file(file, self.root, self.name, self.rules, bounds.most_source_bytes)
            for piece in pieces(file.descriptor, state.st_size, bounds):
                digest.update(piece)
                text.add(piece)
            if has_changed(state, file):
                raise NotFoundSource("corrupt", "changed_during_read")
        sha256 = digest.hexdigest()
        if not sha256.startswith(pointer.digest_prefix or sha256):
            raise NotFoundSource("corrupt", "artifact_digest_mismatch")
        if not text.is_utf8():
            raise NotFoundSource("corrupt", "artifact_not_utf8")
        return Finding(status="available", reason="verified_artifact", evidence_sha256=sha256, excerpt=text.excerpt)


class TextCheck:
    """Whether bytes in pieces are UTF-8, and how they begin."""

    def __init__(self, most_chars: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._left = most_chars
        self._beginning: list[str] = []
        self._is_valid = True

    def add(self, piece: bytes) -> None:
        if not self._is_valid or (self._left == 0 and piece.isascii() and not self._decoder.getstate()[0]):
            return
        try:
            self._keep(self._decoder.decode(piece))
        except UnicodeDecodeError:
            self._is_valid = False

    def is_utf8(self) -> bool:
        return self._is_valid and not self._decoder.getstate()[0]

    @property
    def excerpt(self) -> str:
        return "".join(self._beginning)

    def _keep(self, text: str) -> None:
        if self._left:
            kept = text[: self._left]
            self._beginning.append(kept)
            self._left -= len(kept)
