"""The import report: every record of a session's source with its verdict and its place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.http import Http404

from ctxweb.models import Finding, Message, Record, Revision, Session, Source
from ctxweb.queries.messages import words

REVISIONS = 50
FINDINGS = 200
SOUND = ("ok", "blank")  # verdicts that cost nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A source as given. Offsets refer to its unpacked stream, whose size and hash are `stream_*`; None is unknown."""

    name: str
    member: str
    sha256: str
    size: int
    stream_sha256: str
    stream_size: int | None
    format: str
    layout: str
    imported_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionRow:
    """One reading of the session; the `current` one is what the pages show."""

    state: str
    current: bool
    created_at: datetime
    source: str
    name: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """Something that a reader of the lane must be told, at a line of its file or at a message."""

    code: str
    line: int | None
    seq: int | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSummary:
    """What the source held. The values of `verdicts` add up to `records`; `lane_records` of them belong to this lane, and
    `folded` of those were further lines of a message."""

    source: SourceRow
    records: int
    verdicts: dict[str, int]
    unknown_types: dict[str, int]
    flags: dict[str, int]
    lane_records: int
    messages_logged: int
    messages: int
    folded: int
    findings: tuple[FindingRow, ...]
    findings_total: int
    revisions: tuple[RevisionRow, ...]
    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """`line` from 1; `offset`, `length` and `end` in bytes of the unpacked stream; `seq` is the message that begins with it."""

    number: int
    line: int
    offset: int
    length: int
    end: int
    digest: str
    verdict: str
    type: str
    flags: tuple[str, ...]
    seq: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordWindow:
    """`matching` of `total` records; `next` is the number to go on after, None at the end."""

    total: int
    matching: int
    records: tuple[RecordRow, ...]
    next: str | None


def report_summary(*, session: Session, revision: Revision) -> ReportSummary:
    source = revision.source
    lanes = Session.objects.filter(current__source=source).exclude(pk=session.pk).order_by("pk")
    return ReportSummary(
        source=_source(source),
        records=source.record_count,
        verdicts=source.verdicts,
        unknown_types=source.unknown_types,
        flags=source.flag_counts,
        lane_records=session.record_count,
        messages_logged=session.messages_logged,
        messages=session.message_count,
        folded=session.messages_logged - session.message_count,
        findings=findings_of(revision),
        findings_total=Finding.objects.filter(revision=revision).count(),
        revisions=_revisions(session),
        lanes=tuple(lanes.values_list("public_id", flat=True)[:FINDINGS]),
    )


def findings_of(revision: Revision) -> tuple[FindingRow, ...]:
    """In the order of the import, at most `FINDINGS`."""
    rows = Finding.objects.filter(revision=revision).order_by("ordinal")[:FINDINGS]
    return tuple(FindingRow(code=row.code, line=row.line, seq=row.seq, detail=row.detail) for row in rows)


def _source(source: Source) -> SourceRow:
    return SourceRow(
        name=source.name,
        member=source.member,
        sha256=source.sha256,
        size=source.size,
        stream_sha256=source.stream_sha256,
        stream_size=source.stream_size,
        format=source.format,
        layout=source.layout,
        imported_at=source.imported_at,
    )


def _revisions(session: Session) -> tuple[RevisionRow, ...]:
    rows = Revision.objects.filter(session=session).select_related("source").order_by("-pk")[:REVISIONS]
    return tuple(
        RevisionRow(
            state=row.state,
            current=row.pk == session.current_id,
            created_at=row.created_at,
            source=row.source.sha256,
            name=row.source.name,
            size=row.source.size,
        )
        for row in rows
    )


def record_window(*, revision: Revision, verdict: str, after: int, limit: int) -> RecordWindow:
    """The first `limit` records of `verdict` (empty: all, `odd`: all that are not sound) behind the record `after`."""
    source = revision.source
    records = _matching(source, verdict)
    window = list(records.filter(number__gt=after).order_by("number")[: limit + 1])
    shown = window[:limit]
    seqs = dict(Message.objects.filter(revision=revision, record__in=[row.number for row in shown]).values_list("record", "seq"))
    return RecordWindow(
        total=source.record_count,
        matching=matching_count(verdicts=source.verdicts, verdict=verdict),
        records=tuple(record_row(row, seq=seqs.get(row.number)) for row in shown),
        next=str(shown[-1].number) if len(window) > limit else None,
    )


def matching_count(*, verdicts: dict[str, int], verdict: str) -> int:
    if verdict == "odd":
        return sum(count for name, count in verdicts.items() if name not in SOUND)
    return verdicts.get(verdict, 0) if verdict else sum(verdicts.values())


def _matching(source: Source, verdict: str) -> QuerySet[Record]:
    records = Record.objects.filter(source=source)
    if verdict == "odd":
        return records.filter(verdict__in=[name for name in source.verdicts if name not in SOUND])
    return records.filter(verdict=verdict) if verdict else records


def record_row(row: Record, *, seq: int | None) -> RecordRow:
    return RecordRow(
        number=row.number,
        line=row.line,
        offset=row.offset,
        length=row.length,
        end=row.offset + row.length,
        digest=bytes(row.digest).hex(),
        verdict=row.verdict,
        type=row.type,
        flags=words(row.flags),
        seq=seq,
    )


def doubled_record(*, revision: Revision, record: RecordRow) -> int | None:
    """The number of the first record that a duplicate repeats byte for byte; None where there is none before it."""
    if record.verdict != "duplicate":
        return None
    earlier = Record.objects.filter(source=revision.source, number__lt=record.number, type=record.type, digest=bytes.fromhex(record.digest))
    return earlier.order_by("number").values_list("number", flat=True).first()


def readable_record(*, revision: Revision, number: int) -> RecordRow:
    """Raises Http404."""
    row = Record.objects.filter(source=revision.source, number=number).first()
    if row is None:
        raise Http404
    seq = Message.objects.filter(revision=revision, record=number).values_list("seq", flat=True).first()
    return record_row(row, seq=seq)
