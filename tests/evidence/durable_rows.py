"""Durable state of a session, with looks at its sources, a candidate, a conflict and a sign-off: what the pages of sources show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from compaction.durable.canonical import item_from
from compaction.sources.resolution import SourceResolution, Status
from ctxweb.models import Session
from ctxweb.services.audit import resolutions_append, sign_off
from ctxweb.services.durable_changes import durable_change
from ctxweb.services.durable_proposals import CONFLICT, candidate_add, proposal_add
from ctxweb.services.durable_versions import Author

ANA = Author(name="Ana", origin="page", reason="the release")
DAY = datetime(2026, 10, 1, 9, tzinfo=UTC)
CONFIRMED = "2026-10-01T09:00:00Z"
STATUSES: tuple[tuple[Status, str], ...] = (
    ("available", "verified_transcript_event"),
    ("missing", "transcript_event_missing"),
    ("available", "verified_transcript_event"),
    ("corrupt", "transcript_digest_mismatch"),
)


def fact(session: Session, number: int, **more: Any) -> dict[str, Any]:
    pointer = f"transcript:{session.public_id}:{number + 1}"
    return {"fact_id": f"fact-{number}", "content": f"Fact {number}", "source_pointer": pointer, "last_confirmed_at": CONFIRMED, **more}


def keep_durable(session: Session, *, facts: int) -> None:
    """Two versions of a state with so many facts, fewer pending items and evidence, and two rounds of looks."""
    pointers = [fact(session, number)["source_pointer"] for number in range(facts)]
    look_at(session, pointers, at=DAY - timedelta(days=2), statuses=STATUSES[:1])
    changes = {
        "facts": [fact(session, number) for number in range(facts)],
        "pending_items": [_work(session, number) for number in range(max(facts // 3, 3))],
        "retrieval_evidence": [_evidence(session, number) for number in range(max(facts // 4, 2))],
        "retrieval_traces": [_trace()],
    }
    durable_change(project=session.project, session=session.public_id, expected=0, author=ANA, changes=changes)
    again = {"facts": [fact(session, 0, content="The first fact, said better", last_confirmed_at="2026-10-02T09:00:00Z")]}
    durable_change(project=session.project, session=session.public_id, expected=1, author=ANA, changes=again)
    candidate_add(
        session=session.public_id, domain="facts", item=fact(session, 0, fact_id="found"), author=Author(name="rules", origin="api")
    )
    other = item_from("facts", fact(session, 1, content="Another text"))
    proposal_add(session=session.public_id, kind=CONFLICT, domain="facts", item=other, author=Author(name="Ben", origin="api"))
    look_at(session, pointers, at=DAY + timedelta(days=1))
    sign_off(project=session.project, subject=f"session:{session.public_id}", name="Ravi", note="Looked at.")


def look_at(session: Session, pointers: list[str], *, at: datetime, statuses: tuple[tuple[Status, str], ...] = STATUSES) -> None:
    """A round that finds the statuses in turn."""
    found = []
    for number, pointer in enumerate(pointers):
        status, reason = statuses[number % len(statuses)]
        digest = f"{number:064x}" if status == "available" else None
        found.append(SourceResolution(pointer=pointer, status=status, source_type="transcript", reason=reason, evidence_sha256=digest))
    resolutions_append(project=session.project, resolutions=found, actor="schedule", run="round", started_at=at, finished_at=at)


def _work(session: Session, number: int) -> dict[str, Any]:
    status = ("open", "blocked", "done")[number % 3]
    return {
        "item_id": f"work-{number}",
        "description": f"Work {number}",
        "source_pointer": f"transcript:{session.public_id}:{number + 1}",
        "last_confirmed_at": CONFIRMED,
        "status": status,
        "reason": "waits for Ravi" if status == "blocked" else None,
    }


def _evidence(session: Session, number: int) -> dict[str, Any]:
    return {
        "memory_id": f"memory-{number}",
        "source_id": f"transcript:{session.public_id}:{number + 1}" if number else "a wiki",
        "source_type": "note",
        "source_title": f"Notes {number}",
        "captured_at": CONFIRMED,
        "score": 0.75,
        "source_rank": 1,
    }


def _trace() -> dict[str, Any]:
    decisions = [
        {"memory_id": "memory-1", "decision": "selected", "reason": "won its conflict", "score": 0.75},
        {"memory_id": "old", "decision": "dropped", "reason": "older", "score": 0.5},
    ]
    return {"trace_id": "trace-1", "query": "where is it written", "captured_at": CONFIRMED, "decisions": decisions}
