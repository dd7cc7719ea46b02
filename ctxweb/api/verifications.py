"""Have sources verified now: a job does it, and the audit tells what it found."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpRequest
from django.utils import timezone
from ninja import Body, Field, Router, Schema, Status

from compaction.sources.pointers import MOST_POINTER_CHARS
from ctxweb.queries.jobs import JobDetail, job_detail
from ctxweb.queries.readable import readable_session
from ctxweb.services.source_jobs import verification_open

router = Router(tags=["durable state"])


class Verification(Schema):
    """`actor` is who asks, as the audit names them; `pointer` limits the check to one source of the session."""

    actor: str = Field("api", min_length=1, max_length=200)
    pointer: str = Field("", max_length=MOST_POINTER_CHARS)


@router.post(
    "/sessions/{session_id}/verifications",
    response={HTTPStatus.ACCEPTED: JobDetail},
    summary="Verify the sources of a session again, or one of them; answers with the job",
)
def verification_post(request: HttpRequest, session_id: str, given: Body[Verification | None] = None) -> Status[JobDetail]:
    session, _ = readable_session(public_id=session_id)
    asked = given or Verification.model_validate({})
    job = verification_open(project=session.project, actor=asked.actor, session=session.public_id, pointer=asked.pointer)
    return Status(HTTPStatus.ACCEPTED, job_detail(public_id=job.public_id, now=timezone.now()))
