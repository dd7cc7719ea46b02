"""What a source is, and whether it is known: the same stream, a beginning of one, or one that goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from django.conf import settings
from django.db.models import Max

from ctxweb.importers import IMPORTERS, recognise
from ctxweb.importers.base import Importer
from ctxweb.importers.physical import PhysicalError, RawRecord, ReadLimits
from ctxweb.importers.physical.documents import document_records
from ctxweb.importers.physical.head import Head, read_head
from ctxweb.importers.physical.reading import read_records
from ctxweb.importers.physical.unpack import Member, open_stream
from ctxweb.models import Record, Source
from ctxweb.services.importing.errors import ImportRefused
from ctxweb.services.importing.showing import Growth
from ctxweb.storage import blob_path

PIECE_BYTES = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A stream of `size` bytes. `opening` is the SHA-256 up to its first line end; `known` are the sources with the same
    opening that are this stream (`same`), contain it (`longer`) or are contained in it (`shorter`, the longest first)."""

    size: int
    sha256: str
    opening: str
    same: Source | None
    longer: Source | None
    shorter: Source | None


def members_of(*, sha256: str) -> Sequence[Member]:
    """The sources in a stored file: itself, or what is packed in it."""
    return open_stream(blob_path(sha256), limits=read_limits()).members


def member_of(*, source: Source) -> Member:
    """The stream of a known source. Raises ImportRefused `missing` where its raw bytes do not hold it."""
    for member in members_of(sha256=source.sha256):
        if (member.name or "") == source.member:
            return member
    raise ImportRefused(
        "missing", f"The raw bytes {source.sha256[:12]}… hold no member of the name that source {source.pk} was imported under."
    )


def read_limits() -> ReadLimits:
    return ReadLimits(
        max_line_bytes=settings.CTXWEB_MAX_LINE_BYTES,
        max_depth=settings.CTXWEB_MAX_JSON_DEPTH,
        max_expanded_bytes=settings.CTXWEB_MAX_EXPANDED_BYTES,
        max_records=settings.CTXWEB_MAX_RECORDS,
    )


def importer_of(*, head: Head) -> Importer:
    """The format that recognises the source. Raises ImportRefused `unsupported_format`."""
    importer = recognise(head)
    if importer is None:
        formats = ", ".join(importer.id for importer in IMPORTERS)
        raise ImportRefused(
            "unsupported_format",
            f"No session format recognises this source, which begins with “{head.preview}”. Known formats: {formats}.",
        )
    return importer


def head_of(*, member: Member) -> Head:
    return read_head(member.open, limits=read_limits())


def records_of(*, stream: BinaryIO, head: Head, importer: Importer, is_cut: bool = False) -> Iterator[RawRecord]:
    """The records of the source in the layout that its head shows; `is_cut` as its `Member` says."""
    if head.layout == "document":
        path = _document_path(head.values[0] if head.values else None, importer)
        if path:
            return document_records(stream, path, limits=read_limits())
    return read_records(stream, limits=read_limits(), layout=head.layout, looks_like_record=importer.looks_like_record, is_cut=is_cut)


def _document_path(document: Any, importer: Importer) -> tuple[str, ...]:
    """The first of the format's paths that leads to an array in this document."""
    return next((path for path in importer.document_paths if isinstance(_at(document, path), list)), ())


def _at(document: Any, path: Sequence[str]) -> Any:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def survey(*, member: Member) -> Survey:
    """Read a stream once and compare it with what is known."""
    with member.open() as stream:
        walk = _Walk(stream)
        walk.read()
    sha256 = walk.digest.hexdigest()
    known = [source for source in walk.known if source.stream_size is not None]
    shorter = [source for source in known if walk.marks.get(source.stream_size or 0) == source.stream_sha256]
    longer = [source for source in known if (source.stream_size or 0) > walk.size and _begins_with(source, walk.size, sha256)]
    return Survey(
        size=walk.size,
        sha256=sha256,
        opening=walk.opening,
        same=next((source for source in known if source.stream_sha256 == sha256), None),
        longer=next(iter(longer), None),
        shorter=max((source for source in shorter if source.stream_size != walk.size), key=_size, default=None),
    )


def growth_of(*, shorter: Source | None, head: Head, importer: Importer) -> Growth | None:
    """What a new source takes over from the earlier state of it that is known.

    The last record of the earlier state is judged again: what was a cut tail may have become whole, or invalid.
    """
    if shorter is None or shorter.format != importer.id or head.layout != "lines":
        return None
    if shorter.layout != "lines":
        return Growth(base=shorter, kept=0)
    records = Record.objects.filter(source=shorter)
    last_line = records.exclude(verdict="blank").aggregate(last=Max("line"))["last"] or 1
    kept = records.filter(line__lt=last_line).aggregate(last=Max("number"))["last"] or 0
    return Growth(base=shorter, kept=kept)


class _Walk:
    """Hashes a stream and, once its first line has told which sources may be related, notes the hash at their sizes."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.digest = hashlib.sha256()
        self.size = 0
        self.opening = ""
        self.known: list[Source] = []
        self.marks: dict[int, str] = {}
        self._sizes: list[int] = []

    def read(self) -> None:
        while piece := self._stream.read(PIECE_BYTES):
            if not self.opening and b"\n" in piece:
                first, piece = piece[: piece.index(b"\n")], piece[piece.index(b"\n") :]
                self._add(first)
                self._open()
            self._add(piece)
        if not self.opening:
            self._open()

    def _open(self) -> None:
        self.opening = self.digest.hexdigest()
        self.known = list(Source.objects.filter(opening=self.opening, state=Source.State.READY).order_by("pk"))
        self.marks[self.size] = self.opening
        self._sizes = sorted({_size(source) for source in self.known if _size(source) > self.size}, reverse=True)

    def _add(self, piece: bytes) -> None:
        while self._sizes and self._sizes[-1] <= self.size + len(piece):
            cut = self._sizes.pop() - self.size
            self._hash(piece[:cut])
            self.marks[self.size] = self.digest.hexdigest()
            piece = piece[cut:]
        self._hash(piece)

    def _hash(self, piece: bytes) -> None:
        self.digest.update(piece)
        self.size += len(piece)


def _size(source: Source) -> int:
    return source.stream_size or 0


def _begins_with(source: Source, size: int, sha256: str) -> bool:
    """Whether the first `size` bytes of a known source have this hash; not if its raw bytes cannot be read any more."""
    digest = hashlib.sha256()
    try:
        with member_of(source=source).open() as stream:
            while size > 0 and (piece := stream.read(min(size, PIECE_BYTES))):
                digest.update(piece)
                size -= len(piece)
    except (OSError, PhysicalError, ImportRefused):
        return False
    return size == 0 and digest.hexdigest() == sha256
