"""A session's durable state: its items, each with what is known of its source, and what waits for a person."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from django.http import Http404

from compaction.durable.canonical import Item
from compaction.sources.resolution import Status
from ctxweb.audit_rows import latest_entries
from ctxweb.durable_rows import confirmed_of, items_of, last_version, pointers_of, shown, shown_item, state_of
from ctxweb.importers.values import clean_text
from ctxweb.models import AuditEntry, DurableProposal, DurableVersion, Session
from ctxweb.storable import pointer_key

WORST_FIRST: tuple[Status, ...] = ("corrupt", "denied", "missing", "unsupported", "available")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """What the audit last said of a source. `status` is None while nobody has looked. `changed` says that the digest is
    another one than at the confirmation; None while either is not known."""

    pointer: str
    status: str | None
    reason: str | None
    digest: str | None
    confirmed_digest: str | None
    changed: bool | None
    checked_at: str | None
    entry: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    fact_id: str
    content: str
    source_pointer: str
    last_confirmed_at: str
    source: SourceState


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRow:
    item_id: str
    description: str
    source_pointer: str
    last_confirmed_at: str
    reason: str | None
    status: str
    source: SourceState


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRow:
    """`source` is None where `source_id` is no pointer; `traces` are the retrievals that decided about the memory."""

    memory_id: str
    source_id: str
    source_type: str
    source_title: str
    captured_at: str
    score: float
    source_rank: int
    conflict_key: str | None
    source: SourceState | None
    traces: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    memory_id: str
    decision: str
    reason: str
    score: float | None
    source_rank: int | None
    conflict_key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRow:
    trace_id: str
    query: str
    captured_at: str
    decisions: tuple[DecisionRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalRow:
    """An item that waits for a person: a `candidate`, or the other side of a `conflict` about `item_id`."""

    number: int
    kind: str
    domain: str
    item_id: str
    item: dict[str, Any]
    base: int
    author: str
    origin: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionOfPerson:
    """What a person decided about a proposal: `version` is the version that an accepted one became part of."""

    accepted: bool
    version: int | None
    author: str
    note: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalHistoryRow:
    """A proposal with its decision, None while it waits for a person."""

    proposal: ProposalRow
    decision: DecisionOfPerson | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalsWindow:
    """Proposals, the newest first; `next` is the number to go on after."""

    total: int
    proposals: tuple[ProposalHistoryRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow:
    number: int
    parent: int | None
    sha256: str
    author: str
    reason: str
    origin: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DurableTwin:
    """The state at its last version; `version` is 0 and `last` None before the first. `worst` is the worst status of its
    sources, None while none was looked up; `sources` counts them by status, `unchecked` included."""

    session: str
    version: int
    last: VersionRow | None
    worst: str | None
    sources: dict[str, int]
    facts: tuple[FactRow, ...]
    pending_items: tuple[PendingRow, ...]
    retrieval_evidence: tuple[EvidenceRow, ...]
    retrieval_traces: tuple[TraceRow, ...]
    conflicts: tuple[ProposalRow, ...]
    candidates: tuple[ProposalRow, ...]


def durable_twin(*, session: Session) -> DurableTwin:
    last = last_version(session=session.public_id)
    state = state_of(last)
    known = _sources(str(session.project_id), items_of(state), confirmed_of(last))
    proposals = _open_proposals(session.public_id)
    return DurableTwin(
        session=session.public_id,
        version=0 if last is None else last.number,
        last=None if last is None else version_row(last),
        worst=worst(one.status for one in known.values()),
        sources=_counts(known.values()),
        facts=tuple(FactRow(**shown_item(one), source=known[one.source_pointer]) for one in state.facts),
        pending_items=tuple(PendingRow(**shown_item(one), source=known[one.source_pointer]) for one in state.pending_items),
        retrieval_evidence=tuple(
            EvidenceRow(
                **shown_item(one),
                source=known.get(one.source_id),
                traces=tuple(clean_text(trace.trace_id) for trace in state.traces_of(one.memory_id)),
            )
            for one in state.retrieval_evidence
        ),
        retrieval_traces=tuple(_trace_row(shown_item(one)) for one in state.retrieval_traces),
        conflicts=tuple(row for row in proposals if row.kind == "conflict"),
        candidates=tuple(row for row in proposals if row.kind == "candidate"),
    )


def worst(statuses: Iterable[str | None]) -> str | None:
    """The worst of the statuses; None where there is none."""
    there = set(statuses)
    return next((status for status in WORST_FIRST if status in there), None)


def readable_proposal(*, session: Session, number: int) -> DurableProposal:
    """Raises Http404."""
    found = DurableProposal.objects.filter(session=session.public_id, number=number).first()
    if found is None:
        raise Http404
    return found


def _sources(project_id: str, items: Iterable[Item], confirmed: Mapping[str, str]) -> dict[str, SourceState]:
    pointers = pointers_of(items)
    last = latest_entries(project_id=project_id, pointers=pointers)
    return {pointer: _source(pointer, last.get(pointer_key(pointer)), confirmed.get(pointer)) for pointer in pointers}


def _source(pointer: str, entry: AuditEntry | None, confirmed: str | None) -> SourceState:
    digest = (entry.digest or None) if entry is not None else None
    return SourceState(
        pointer=clean_text(pointer),
        status=None if entry is None else entry.status,
        reason=None if entry is None else entry.reason,
        digest=digest,
        confirmed_digest=confirmed,
        changed=None if digest is None or confirmed is None else digest != confirmed,
        checked_at=None if entry is None else entry.finished_at,
        entry=None if entry is None else entry.seq,
    )


def _counts(sources: Iterable[SourceState]) -> dict[str, int]:
    counts: dict[str, int] = dict.fromkeys((*WORST_FIRST, "unchecked"), 0)
    for one in sources:
        counts[one.status or "unchecked"] += 1
    return counts


def proposal_row(row: DurableProposal) -> ProposalRow:
    return ProposalRow(
        number=row.number,
        kind=row.kind,
        domain=row.domain,
        item_id=row.item_id,
        item=shown(json.loads(row.item)),
        base=row.base,
        author=row.author,
        origin=row.origin,
        at=row.at,
    )


def _open_proposals(session: str) -> list[ProposalRow]:
    rows = DurableProposal.objects.filter(session=session, decision__isnull=True).order_by("number")
    return [proposal_row(row) for row in rows]


def proposals_window(*, session: Session, after: int | None, limit: int) -> ProposalsWindow:
    """All proposals of a session, decided ones too: the newest `limit` before the number `after`."""
    rows = DurableProposal.objects.filter(session=session.public_id)
    older = rows if after is None else rows.filter(number__lt=after)
    window = list(older.select_related("decision").order_by("-number")[: limit + 1])
    shown = window[:limit]
    return ProposalsWindow(
        total=rows.count(),
        proposals=tuple(ProposalHistoryRow(proposal=proposal_row(row), decision=_decision_of(row)) for row in shown),
        next=str(shown[-1].number) if len(window) > limit else None,
    )


def _decision_of(row: DurableProposal) -> DecisionOfPerson | None:
    made = getattr(row, "decision", None)
    if made is None:
        return None
    return DecisionOfPerson(**{field.name: getattr(made, field.name) for field in fields(DecisionOfPerson)})


def version_row(version: DurableVersion) -> VersionRow:
    return VersionRow(**{field.name: getattr(version, field.name) for field in fields(VersionRow)})


def _trace_row(values: dict[str, Any]) -> TraceRow:
    return TraceRow(**{**values, "decisions": tuple(DecisionRow(**one) for one in values["decisions"])})
