"""`transcript:<session>:<sequence>` of a project: a record of an imported session, else a line below one of its roots."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Literal, Self

from django.conf import settings

from compaction.sources.base import Bounds, Found
from compaction.sources.files import FileRules, Root
from compaction.sources.pointers import SourcePointer
from compaction.sources.records import FileBytes, ImportedTranscripts, RecordBytes, RecordPlace
from compaction.sources.resolution import Finding
from compaction.sources.transcript import SUFFIX, TranscriptGrammar, Transcripts
from ctxweb.models import Record
from ctxweb.sources.base import ImportedSession, ProjectSources
from ctxweb.sources.marks import file_mark
from ctxweb.sources.patience import Patient
from ctxweb.sources.streams import unpacked

NUMBERS_AT_ONCE = 500
OWN_STORE = FileRules(links=True)  # a backup may share its files; what they hold is proved by their digests


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRows:
    """The record table of this database. `store` is the folder of the raw bytes."""

    sessions: Mapping[str, ImportedSession]
    store: Root

    def places(self, session_id: str, numbers: Sequence[int]) -> Mapping[int, RecordPlace] | None:
        """Where the records lie: the table is the index, so nothing is scanned for them."""
        session = self.sessions.get(session_id)
        if session is None:
            return None
        found: dict[int, RecordPlace] = {}
        if session.source is None:
            return found
        for start in range(0, len(numbers), NUMBERS_AT_ONCE):
            rows = Record.objects.filter(source_id=session.source, number__in=numbers[start : start + NUMBERS_AT_ONCE])
            for number, offset, length, digest, verdict in rows.values_list("number", "offset", "length", "digest", "verdict"):
                place = RecordPlace(source=session_id, offset=offset, length=length, sha256=bytes(digest), verdict=verdict)
                found[number] = place
        return found

    @contextmanager
    def opened(self, source: str) -> Iterator[RecordBytes]:
        """The stored bytes of the session `source`: read in place, unpacked as they go by where they are packed."""
        session = self.sessions[source]
        if not session.is_plain:
            with unpacked(sha256=session.sha256, member=session.member) as stream:
                yield stream
            return
        with self.store.opened((session.sha256[:2],), session.sha256) as file:
            yield FileBytes.checked(file, self.store, OWN_STORE, Bounds())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectTranscripts:
    """An imported session is read from the stored bytes alone; only one that is not known is looked for in the roots, in
    their order."""

    sources: ProjectSources
    store: Root
    imported: ImportedTranscripts
    roots: tuple[Root, ...]
    name: Literal["transcript"] = "transcript"

    @classmethod
    def of(cls, sources: ProjectSources, opened: ExitStack) -> Self:
        store = opened.enter_context(Root(settings.HOME.blobs))
        roots = tuple(opened.enter_context(Root(path)) for path in sources.transcript_roots)
        imported = ImportedTranscripts(table=RecordRows(sessions=sources.sessions, store=store))
        return cls(sources=sources, store=store, imported=imported, roots=roots)

    def parse(self, raw: str) -> SourcePointer:
        return TranscriptGrammar().parse(raw)

    def allows(self, pointer: SourcePointer) -> bool:
        return self.sources.may_see(pointer.session_id)

    def find(self, session_id: str, pointers: Sequence[SourcePointer], bounds: Bounds) -> list[Found]:
        if session_id in self.sources.sessions:
            return self.imported.find(session_id, pointers, bounds)
        found: list[Found] = [Finding(status="missing", reason="transcript_missing")] * len(pointers)
        for root in self.roots:
            found = Patient(scheme=Transcripts(root=root)).find(session_id, pointers, bounds)
            if any(not isinstance(one, Finding) or one.reason != "transcript_missing" for one in found):
                break
        return found

    def marks(self, session_id: str, pointers: Sequence[SourcePointer]) -> list[Hashable]:
        session = self.sources.sessions.get(session_id)
        if session is not None:
            mark: Hashable = (session, file_mark(self.store, (session.sha256[:2],), session.sha256))
        else:
            mark = tuple(file_mark(root, (), session_id + SUFFIX) for root in self.roots)
        return [mark] * len(pointers)
