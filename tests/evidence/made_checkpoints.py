"""Rows of summaries as their jobs leave them, without a job."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

from ctxweb.jobs import job_claim
from ctxweb.models import Body, Job, Session, Span, Summary, SummaryCall
from ctxweb.services.checkpoint_summarize import summary_open
from ctxweb.services.jobs_run import claimed_run
from ctxweb.services.summary_asked import SummaryAsked

AT = datetime(2026, 11, 3, 9, tzinfo=UTC)
SECTIONS = ("Request and intent", "Files and code", "Decisions", "Pending tasks")
SAYS = (
    ("Port 5401 must stay open.", "src/module_1.py was read.", "The state is stored in JSON files.", "Write the tests."),
    ("Port 5401 must stay open.", "src/module_1.py was read.", "The state is stored in SQLite.", "Write the tests."),
    ("Keep a port open.", "Nothing was read.", "The state is stored in SQLite, format 3 is used.", "None."),
    ("Keep port 5407 open.", "src/module_7.py was read, src/module_1.py is read again.", "The state is stored in SQLite.", "Ship it."),
    ("Keep port 5407 open.", "src/module_7.py was read.", "The state is stored in SQLite.", "Ship it, then rest."),
)
"""What the checkpoints of a chain of five say under the headings."""


def made_text(number: int) -> str:
    """The text of checkpoint `number` (from 1) of a chain."""
    return "\n\n".join(f"## {heading}\n- {says}" for heading, says in zip(SECTIONS, SAYS[(number - 1) % len(SAYS)], strict=True))


def make_chain(session: Session, count: int) -> list[Summary]:
    """So many incremental summaries over the calls of a session, each grown out of the one before it."""
    chain: list[Summary] = []
    for number in range(1, count + 1):
        to_call = max(1, session.call_count * number // count)
        chain.append(make_summary(session, text=made_text(number), to_call=to_call, parent=chain[-1] if chain else None))
    return chain


def make_job(session: Session, *, to_call: int, canaries: int = 0) -> str:
    """A summary job that has ended with an extract; its public id."""
    job = summary_open(session=session, asked=SummaryAsked(to_call=to_call, canaries=canaries), actor="Ana", is_rung=False)
    claimed = job_claim(job_id=job.pk)
    assert claimed is not None
    claimed_run(job=claimed)
    return str(job.public_id)


def ended_job(session: Session, *, calls: int) -> str:
    """The row of a summary job that has ended after so many calls of a model; its public id."""
    asked = SummaryAsked(to_call=3, summarizer="anthropic").to_json()
    params = {"name": "a summary", "session": session.public_id, "asked": asked, "model": "claude-haiku-4-5"}
    name = f"summaryof{session.public_id}"
    job = Job.objects.create(public_id=name[:40], kind="summary", key=name, state="failed", params=params)
    SummaryCall.objects.bulk_create(
        SummaryCall(
            project=session.project, session=session.public_id, job=job, number=number, attempt=1, state="failed", summarizer="anthropic",
            model="claude-haiku-4-5", shape="framed", input_tokens=900, most_output_tokens=100, reserved_nano=5, started_at=AT,
        )
        for number in range(1, calls + 1)
    )  # fmt: skip
    return job.public_id


def make_summary(session: Session, *, text: str, to_call: int = 3, **more: Any) -> Summary:
    """A summary of all that the view of `to_call` holds."""
    digest = hashlib.sha256(text.encode()).digest()[:16]
    body, _ = Body.objects.get_or_create(digest=digest, defaults={"text": text, "chars": len(text)})
    spans = Span.objects.filter(
        history__revision=session.current_id, history__origin="recorded", from_call__lte=to_call, to_call__gt=to_call
    )
    places = [f"{seq}.{i}" for seq, i in spans.order_by("position").values_list("seq", "i")]
    number = Summary.objects.count() + 1
    usual = {
        "public_id": f"summary{number:013d}",
        "attempt": 1,
        "state": "kept",
        "trigger": "manual",
        "summarizer": "anthropic",
        "model": "claude-haiku-4-5",
        "shape": "framed",
        "prompt_version": "1",
        "from_call": 1,
        "first_pointer": f"transcript:{session.public_id}:1",
        "last_pointer": f"transcript:{session.public_id}:{to_call}",
        "range_sha256": "0" * 64,
        "view_sha256": "1" * 64,
        "tokens": len(text) // 4,
        "range_tokens": 100 * len(places),
        "view_before": 100 * len(places) + 50,
        "view_after": 90,
        "at": AT + timedelta(minutes=number),
    }
    return Summary.objects.create(
        **{**usual, **more}, project=session.project, session=session.public_id, to_call=to_call, blocks=places, body=body
    )
