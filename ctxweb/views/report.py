"""Import report: every record accounted for, and the raw bytes of each."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from ctxweb import addresses
from ctxweb.models import Revision
from ctxweb.page import counted, session_frame, show
from ctxweb.queries.readable import readable_session
from ctxweb.queries.report import (
    SOUND,
    RecordRow,
    RecordWindow,
    ReportSummary,
    doubled_record,
    readable_record,
    record_window,
    report_summary,
)
from ctxweb.services.record_read import RecordUnreadable, record_pieces, record_read
from ctxweb.views import asked
from ctxweb.views.downloads import as_download
from ctxweb.views.windows import rows_asked


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRow:
    """One verdict: how many records have it, and the address that shows only these."""

    name: str
    count: int
    address: str
    is_sound: bool
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPage:
    """A window of records under the summary of the source."""

    address: str
    public_id: str
    finding: str
    detail: str
    warning: str
    summary: ReportSummary
    verdicts: tuple[VerdictRow, ...]
    verdict: str
    window: RecordWindow
    said: str
    more: str | None
    earlier: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPage:
    """One record: its head and tail as text, how many bytes lie between them, or why they cannot be read."""

    public_id: str
    record: RecordRow
    double_of: int | None
    head: str
    hidden: int
    tail: str
    failure: str
    report: str
    download: str
    previous: str | None
    following: str | None


@require_safe
def report(request: HttpRequest, session_id: str) -> HttpResponse:
    session, revision = readable_session(public_id=session_id)
    verdict = asked.text(request.GET, "verdict", longest=20)
    after = asked.number(request.GET, "after") or 0
    window = record_window(revision=revision, verdict=verdict, after=after, limit=rows_asked(request))
    page = _page(session_id, report_summary(session=session, revision=revision), verdict, window, after)
    odd = session.record_count - sum(session.verdicts.get(name, 0) for name in SOUND)
    title = f"Import · {odd:,} not understood" if odd else f"Import · {session.record_count:,} of {session.record_count:,}"
    frame = session_frame(request, session, tab="import", title=title, json=addresses.api_session(session_id, "report"))
    return show(request, template="report/page.html", frame=frame, page=page, fragments={"records-more": "report/_rows.html"})


def _page(public_id: str, summary: ReportSummary, verdict: str, window: RecordWindow, after: int) -> ReportPage:
    address = addresses.import_report(public_id)
    odd = sum(count for name, count in summary.verdicts.items() if name not in SOUND)
    finding = f"{counted(summary.records, 'record')} in the source, each with one verdict: "
    finding += f"{odd:,} could not be understood as they are." if odd else "all were understood."
    return ReportPage(
        address=address,
        public_id=public_id,
        finding=finding,
        detail=_detail(summary),
        warning=_warning(summary),
        summary=summary,
        verdicts=_verdicts(address, summary, verdict),
        verdict=verdict,
        window=window,
        said=f"{window.matching:,} of {window.total:,} records · {len(window.records):,} from here on shown",
        more=addresses.with_query(address, verdict=verdict, after=window.next) if window.next else None,
        earlier=addresses.with_query(address, verdict=verdict) if after else None,
    )


def _detail(summary: ReportSummary) -> str:
    parts = [f"{summary.lane_records:,} belong to this lane."] if summary.lanes else []
    if summary.folded > 0:
        parts.append(
            f"{summary.messages_logged:,} of them log {counted(summary.messages, 'message')}: the lines of one call are one message."
        )
    return " ".join(parts)


def _warning(summary: ReportSummary) -> str:
    if summary.verdicts.get("truncated_tail"):
        return (
            "The last record is cut off: the file was being written, or was torn. Import it again once it is whole; what is stored goes on."
        )
    return ""


def _verdicts(address: str, summary: ReportSummary, chosen: str) -> tuple[VerdictRow, ...]:
    ranked = sorted(summary.verdicts.items(), key=lambda item: (item[0] in SOUND, -item[1]))
    return tuple(
        VerdictRow(
            name=name,
            count=count,
            address=addresses.with_query(address, verdict=name),
            is_sound=name in SOUND,
            chosen=name == chosen,
        )
        for name, count in ranked
    )


@require_safe
def record(request: HttpRequest, session_id: str, number: int) -> HttpResponseBase:
    session, revision = readable_session(public_id=session_id)
    row = readable_record(revision=revision, number=number)
    if asked.text(request.GET, "as") == "bytes":
        with contextlib.suppress(RecordUnreadable):  # the page then says why
            pieces = record_pieces(source=revision.source, offset=row.offset, length=row.length)
            return as_download(StreamingHttpResponse(pieces), name=f"{session_id}-{number}.bin")
    twin = addresses.api_session(session_id, f"records/{number}")
    frame = session_frame(request, session, tab="import", title=f"Record {number:,}", json=twin)
    return show(request, template="report/record.html", frame=frame, page=_record_page(session_id, revision, row))


def _record_page(public_id: str, revision: Revision, row: RecordRow) -> RecordPage:
    allowed = int(settings.CTXWEB_BODY_PREVIEW_BYTES)
    head = tail = failure = ""
    hidden = 0
    try:
        if row.length <= allowed:
            head = _text(record_read(source=revision.source, offset=row.offset, length=row.length))
        else:
            hidden, end = row.length - allowed, allowed // 4
            head = _text(record_read(source=revision.source, offset=row.offset, length=allowed - end))
            tail = _text(record_read(source=revision.source, offset=row.offset + row.length - end, length=end))
    except RecordUnreadable as error:
        failure = str(error)
    address = addresses.import_report(public_id)
    return RecordPage(
        public_id=public_id,
        record=row,
        double_of=doubled_record(revision=revision, record=row),
        head=head,
        hidden=hidden,
        tail=tail,
        failure=failure,
        report=f"{addresses.with_query(address, after=row.number - 1)}#r{row.number}",
        download=f"{address}/{row.number}?as=bytes",
        previous=f"{address}/{row.number - 1}" if row.number > 1 else None,
        following=f"{address}/{row.number + 1}" if row.number < revision.source.record_count else None,
    )


def _text(raw: bytes) -> str:
    """Bytes as people read them; what is no UTF-8 is written as an escape of its bytes."""
    return raw.decode("utf-8", "backslashreplace")
