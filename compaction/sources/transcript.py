"""`transcript:<session>:<sequence>`: a line of a session's own file, proved by its envelope and by all lines before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from compaction.errors import SourcePointerError
from compaction.sources.base import Bounds, Found
from compaction.sources.events import MOST_RECORD_BYTES, checked_event, verified_event
from compaction.sources.files import STRICT, FileRules, NotFoundSource, Root, checked_file, has_changed, identity, look, pieces, read_at
from compaction.sources.pointers import SourcePointer, checked_component, checked_sequence
from compaction.sources.resolution import Finding
from compaction.sources.transcript_index import TranscriptIndex, Verified

SUFFIX = ".jsonl"  # a setting of the root


class TranscriptGrammar:
    """How pointers of this scheme are written."""

    name: Literal["transcript"] = "transcript"

    def parse(self, raw: str) -> SourcePointer:
        parts = raw.split(":")
        if len(parts) != 3:
            raise SourcePointerError("a transcript pointer is transcript:<session>:<sequence>", code="transcript_pointer_shape")
        session_id = checked_component(parts[1], "session")
        return SourcePointer(raw=raw, kind=self.name, session_id=session_id, sequence=checked_sequence(parts[2]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcripts:
    """Transcripts below one root: `<root>/<session><suffix>`, one JSON object a line. All pointers of a session are looked
    up in one pass, which ends at the last line that is asked for. With an `index`, a file that has not changed since is not
    read again but for the lines that are asked for."""

    root: Root
    suffix: str = SUFFIX
    rules: FileRules = STRICT
    index: TranscriptIndex | None = None
    name: Literal["transcript"] = "transcript"

    def parse(self, raw: str) -> SourcePointer:
        return TranscriptGrammar().parse(raw)

    def find(self, session_id: str, pointers: Sequence[SourcePointer], bounds: Bounds) -> list[Found]:
        """A transcript may grow while it is read. One that changed is read once more, and what both passes found stands; the
        rest is corrupt."""
        bounds.start()
        passes = _Passes(self, session_id, [pointer.sequence or 0 for pointer in pointers], bounds)
        first = look(passes.read, self.name, len(pointers))
        if not passes.changed and first[0].reason != "changed_during_read":
            return list(first)
        second = look(passes.read, self.name, len(pointers))
        return [_settled(one, other, passes.changed) for one, other in zip(first, second, strict=True)]


class _Passes:
    """Readings of one transcript; `changed` tells of the last one."""

    def __init__(self, scheme: Transcripts, session_id: str, wanted: Sequence[int], bounds: Bounds) -> None:
        self._scheme, self._session_id, self._wanted, self._bounds = scheme, session_id, wanted, bounds
        self._index = scheme.index or TranscriptIndex()
        self.changed = False

    def read(self) -> list[Finding]:
        self.changed = False
        scheme = self._scheme
        with scheme.root.opened((), self._session_id + scheme.suffix) as file:
            state = checked_file(file, scheme.root, scheme.name, scheme.rules, self._bounds.most_source_bytes)
            known = self._index.verified(self._session_id, identity(state))
            found = self._known(file.descriptor, known)
            if len(found) < len(set(self._wanted)):
                found |= self._scan(file.descriptor, known, state.st_size)
            self.changed = has_changed(state, file)
        return [found[number] for number in self._wanted]

    def _known(self, descriptor: int, known: Verified) -> dict[int, Finding]:
        """The wanted lines whose beginning is verified: each is read alone."""
        found: dict[int, Finding] = {}
        for number in self._wanted:
            if number <= known.count:
                offset, length = known.place(number)
                found[number] = self._event(read_at(descriptor, offset, length, self._bounds), number)
            elif known.rest is not None:
                found[number] = known.rest
        return found

    def _scan(self, descriptor: int, known: Verified, size: int) -> dict[int, Finding]:
        """The wanted lines behind those that are verified, up to the last; from a bad line on, all that are wanted get its reason."""
        start, wanted = known.count + 1, set(self._wanted)
        last = max(wanted)
        found: dict[int, Finding] = {}
        for number, line in enumerate(_lines(pieces(descriptor, size - known.ends[-1], self._bounds, known.ends[-1])), start=start):
            try:
                record = checked_event(line, number, self._session_id)
            except NotFoundSource as bad:
                known.rest = bad.finding
                break
            known.ends.append(known.ends[-1] + len(line))
            if number in wanted:
                found[number] = verified_event(line, record, self._bounds.excerpt_chars)
            if number == last:
                return found
        known.rest = known.rest or Finding(status="missing", reason="transcript_event_missing")
        return found | {number: known.rest for number in wanted if number > known.count}

    def _event(self, line: bytes, number: int) -> Finding:
        try:
            return verified_event(line, checked_event(line, number, self._session_id), self._bounds.excerpt_chars)
        except NotFoundSource as bad:
            return bad.finding


def _lines(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Lines with their 0x0A; nothing follows the last one. A line above every limit is given up unfinished."""
    unended = b""
    for part in parts:
        *whole, unended = (unended + part).split(b"\n")
        for line in whole:
            yield line + b"\n"
        if len(unended) > MOST_RECORD_BYTES:
            break
    if unended:
        yield unended


def _settled(first: Finding, second: Finding, changed_again: bool) -> Finding:
    if second.status == "missing" and second.reason != "transcript_event_missing":
        return Finding(status="missing", reason="source_disappeared")
    if changed_again and first != second:
        return Finding(status="corrupt", reason="changed_during_read")
    return second
