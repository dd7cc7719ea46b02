"""Sessions that summaries are made of: each call with a question, a tool call beside the answer, and its result."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

from compaction.summary_prompt import SUMMARY_SECTIONS
from ctxweb.jobs import job_claim
from ctxweb.models import Job, Session
from ctxweb.services.checkpoint_summarize import summary_open
from ctxweb.services.jobs_run import claimed_run
from ctxweb.services.session_import import session_import
from ctxweb.services.summary_asked import SummaryAsked

LISTING = "".join(f"src/module_{n}.py has {n * 7} lines and was touched by commit {n:07x}\n" for n in range(12))


def talk(calls: int, *, key: str = "talk", say: Callable[[int], str] | None = None, tell: Callable[[int], str] | None = None) -> bytes:
    """A session of so many calls, in which the user says this and a tool tells that; a longer one of the same key is the same session,
    grown."""
    return b"".join(json.dumps(line).encode() + b"\n" for line in _lines(calls, key, say or _question, tell or _listing))


def _question(number: int) -> str:
    return f"Question {number}: you must keep port {5400 + number} open. Please look at src/module_{number}.py."


def _listing(number: int) -> str:
    return f"File {number}\n{LISTING}"


def _lines(calls: int, key: str, say: Callable[[int], str], tell: Callable[[int], str]) -> Iterator[dict[str, Any]]:
    yield {"format": "ctxweb.message_list", "version": 1, "native_id": key, "key": key, "model": "claude-sonnet-4-5"}
    yield {"type": "message", "role": "system", "content": "You are a careful agent; your secret is SYSTEM-PROMPT.", "label": "system"}
    for n in range(1, calls + 1):
        yield {"type": "message", "role": "user", "content": say(n)}
        yield {"type": "call", "usage": {"input_tokens": 900 * n, "output_tokens": 40}}
        use = {"kind": "tool_use", "tool_id": f"t{n}", "tool_name": "read", "path": f"src/module_{n}.py", "text": f'{{"path": "src/{n}"}}'}
        answer = {"kind": "text", "text": f"We decided to use format {n} and I look at it."}
        yield {"type": "message", "role": "assistant", "blocks": [answer, use], "call": n}
        result = {"kind": "tool_result", "tool_id": f"t{n}", "text": tell(n)}
        yield {"type": "message", "role": "tool", "blocks": [result]}


def checkpoint(number: int) -> str:
    """A summary that may stand for any of these sessions."""
    words = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel")
    told = zip(SUMMARY_SECTIONS, words, strict=True)
    return "\n".join(f"## {section.heading}\n- checkpoint {number} says that {word} stays open" for section, word in told)


def imported(data: bytes, name: str = "talk.jsonl") -> Session:
    told = session_import(name=name, stream=BytesIO(data)).objects()
    assert {each["status"] for each in told} <= {"imported", "updated", "unchanged"}, told
    return Session.objects.select_related("current__source", "project").get(public_id=told[0]["session"])


def opened(session: Session, **asked: Any) -> Job:
    return summary_open(session=session, asked=SummaryAsked(**asked), actor="Ada", is_rung=False)


def run(job: Job) -> Job:
    """One run of the job, whatever time it waits for."""
    claimed = job_claim(job_id=job.pk)
    if claimed is not None:
        claimed_run(job=claimed)
    job.refresh_from_db()
    return job


def finished(job: Job, runs: int = 4) -> Job:
    """Run it until it has ended."""
    while job.state in ("queued", "leased") and runs:
        run(job)
        runs -= 1
    return job


def summarised(session: Session, **asked: Any) -> Job:
    return finished(opened(session, **asked))
