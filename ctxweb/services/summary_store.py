"""The row of a summary, whatever became of it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.utils import timezone

from compaction.containment import Objection
from compaction.messages import Body as TextBody
from compaction.retention.canaries import Canary
from ctxweb.models import Body, Job, Session, Summary
from ctxweb.services.checkpoint_plan import Planned
from ctxweb.services.importing.bodies import bodies_store


def summary_store(
    *, job: Job, session: Session, planned: Planned, text: str, state: str, reason: str, wrong: Sequence[Objection], put: Sequence[Canary]
) -> Summary:
    """Write a summary with its text; within the caller's transaction."""
    body = TextBody.of(text)
    bodies_store(bodies=[body])
    plan, found, params = planned.plan, planned.range, job.params
    return Summary.objects.create(
        public_id=secrets.token_hex(10),
        project=session.project,
        session=plan.session,
        job=job,
        attempt=job.attempt,
        state=state,
        reason=reason,
        trigger=params["trigger"],
        summarizer=plan.asked.summarizer,
        model=plan.model,
        shape=plan.shape,
        prompt_version=plan.prompt_version,
        params=plan.asked.to_json() | {"actor": params["actor"]},
        from_call=plan.from_call,
        to_call=plan.to_call,
        blocks=list(plan.blocks),
        first_pointer=plan.first_pointer,
        last_pointer=plan.last_pointer,
        range_sha256=plan.range_sha256,
        view_sha256=plan.view_sha256,
        body=Body.objects.get(digest=body.digest),
        tokens=found.count(text),
        range_tokens=plan.range_tokens,
        view_before=plan.view_tokens,
        view_after=plan.view_tokens if reason == "protocol" else found.replaced_by(text).tokens,
        parent=found.parent,
        parent_place=plan.parent_place,
        objections=[asdict(one) for one in wrong],
        canaries=[asdict(one) for one in put],
        at=timezone.now(),
    )


def summary_result(summary: Summary) -> Mapping[str, Any]:
    """What a job tells of it."""
    return {"summary": summary.public_id, "state": summary.state, "tokens": summary.tokens, "range_tokens": summary.range_tokens}
