"""How well the stored views of a session explain its reported usage (`manage.py fidelity`, docs/importing.md)."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from compaction.analysis.estimates import constants_for
from compaction.analysis.fidelity import FidelityReport, Spread, fidelity_report
from compaction.history import CallSize, FoldedCompaction
from compaction.transcript import Compaction, ModelCall, Usage
from ctxweb.models import Compaction as CompactionRow
from ctxweb.models import ModelCall as CallRow
from ctxweb.models import Session

_CALL_FIELDS = (
    "n", "seq", "line", "model", "at", "previous", "input_tokens", "cache_write_tokens", "cache_read_tokens",
    "cache_ttl_seconds", "producer_version", "estimate", "block_count",
)  # fmt: skip
_COMPACTION_FIELDS = (
    "ordinal", "index", "before_call", "line", "origin", "mechanism", "status", "detached", "estimate_before", "removed",
    "added", "estimate_after", "edits", "never_sent",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFidelity:
    """The report on one session, with what names it."""

    session: Session
    report: FidelityReport

    def as_json(self) -> dict[str, Any]:
        report = self.report
        return {
            "session": self.session.public_id,
            "native_id": self.session.native_id,
            "format": self.session.format,
            "model": self.session.model or None,
            "calls": report.calls,
            "step_error": spread_json(report.step_errors),
            "epoch_error": spread_json(report.epoch_errors),
            "growth_error": spread_json(report.growth_errors),
            "epochs": report.epochs,
            "inferred": {"drops": report.drops, "rises": report.rises},
            "recorded": {"drops": report.recorded_drops, "found": report.recorded_found},
            "cache": {"exact_share": _rounded(report.cache.exact_share), "unexpected_misses": report.cache.unexpected_misses},
            "constants": asdict(report.constants),
        }


def unknown_sessions(*, public_ids: Sequence[str]) -> tuple[str, ...]:
    """Those of the ids that name no imported session."""
    known = set(Session.objects.filter(public_id__in=public_ids, current__isnull=False).values_list("public_id", flat=True))
    return tuple(public_id for public_id in public_ids if public_id not in known)


def fidelity_of_sessions(*, public_ids: Sequence[str] = ()) -> Iterator[SessionFidelity]:
    """The reports on these sessions, or on all, in the order of their import; those without reported usage are left out."""
    sessions = Session.objects.filter(current__isnull=False).order_by("pk")
    for session in sessions.filter(public_id__in=public_ids) if public_ids else sessions:
        calls, sizes = _calls(session)
        if any(call.usage.prompt_tokens is not None for call in calls):
            constants = constants_for(session.model, session.format)
            yield SessionFidelity(session=session, report=fidelity_report(calls, sizes, _compactions(session), constants))


def spread_json(errors: Sequence[float]) -> dict[str, float | None]:
    """Median and 95th percentile of errors in percent, as the report prints them."""
    spread = Spread.of(errors)
    return {"median": _rounded(spread.median), "p95": _rounded(spread.p95)}


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 4)


def _calls(session: Session) -> tuple[list[ModelCall], list[CallSize]]:
    calls, sizes = [], []
    for row in CallRow.objects.filter(revision=session.current_id).order_by("n").values(*_CALL_FIELDS).iterator():
        usage = Usage(
            input_tokens=row["input_tokens"],
            cache_write_tokens=row["cache_write_tokens"],
            cache_read_tokens=row["cache_read_tokens"],
            cache_ttl_seconds=row["cache_ttl_seconds"],
        )
        calls.append(
            ModelCall(
                n=row["n"],
                seq=row["seq"],
                line=row["line"],
                usage=usage,
                model=row["model"] or None,
                at=_milliseconds(row["at"]),
                previous=row["previous"],
                producer_version=row["producer_version"] or None,
            )
        )
        sizes.append(CallSize(n=row["n"], estimate=row["estimate"] or 0, blocks=row["block_count"], kinds=(), entered=0, removed=0))
    return calls, sizes


def _milliseconds(at: datetime.datetime | None) -> int | None:
    return None if at is None else round(at.timestamp() * 1000)


def _compactions(session: Session) -> list[FoldedCompaction]:
    rows = CompactionRow.objects.filter(history__revision=session.current_id, history__origin="recorded").order_by("ordinal")
    return [_compaction(row) for row in rows.values(*_COMPACTION_FIELDS)]


def _compaction(row: dict[str, Any]) -> FoldedCompaction:
    told = {name: row.pop(name) for name in ("line", "origin", "mechanism", "status", "detached")}
    return FoldedCompaction(compaction=Compaction(**told), **row)
