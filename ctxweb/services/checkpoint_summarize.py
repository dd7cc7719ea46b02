"""A summary of a range of a view, made by a job and kept as a checkpoint. It changes no view and no durable state.

The order of the work: the raw records of the range are there and unchanged, the plan is as it was when somebody asked, then the
summarizer, then what is wrong with its answer; the summary and the end of the job are one transaction.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from django.db import transaction
from django.utils import timezone

from compaction.checkpoints import checkpoint_text
from compaction.containment import Objection, is_refused, objections
from compaction.errors import EditError
from compaction.messages import Body as TextBody
from compaction.retention.canaries import Canary, canaries, planted
from compaction.summarizers.extracts import extract
from compaction.summary_prompt import SUMMARY_SECTIONS
from ctxweb.importers.values import clean_text
from ctxweb.jobs import FINAL, JobRun, job_open, job_ring
from ctxweb.models import Body, Job, Revision, Session, Summary
from ctxweb.services.checkpoint_plan import SummaryPlan, range_records, summary_plan
from ctxweb.services.importing.bodies import bodies_store
from ctxweb.services.record_read import RecordUnreadable, records_differ
from ctxweb.services.summary_asked import EXTRACTIVE, SummaryAsked, SummaryRefused, summary_asked
from ctxweb.services.summary_range import merged_pieces

KIND = "summary"
KEPT = (Summary.State.KEPT, Summary.State.TRIAL)
EXTRACT_SHARE = 4  # an extract has at most this part of its range
EXTRACT_VERSION = "extract-1"


class SummaryFailed(Exception):
    """No summary came of a run. `code` is for programs, the message says what to do, without a word of the session."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def summary_open(*, session: Session, asked: SummaryAsked, actor: str, trigger: str = "manual", is_rung: bool = True) -> Job:
    """The one job of this summary: as it is where it is at work or kept its result, else queued. Raises SummaryRefused with the
    first problem of the plan. `is_rung` False leaves it to the caller to work on it."""
    plan = summary_plan(session=session, asked=asked)
    key = _key(session, plan)
    known = Job.objects.filter(key=key).first()
    if known is not None and (known.state not in FINAL or known.state == Job.State.SUCCEEDED):
        return known
    if plan.problems:
        first = plan.problems[0]
        raise SummaryRefused(first.message, field=first.field, code=first.code)
    with transaction.atomic():
        job = job_open(kind=KIND, key=key, params=_params(session, plan, actor, trigger))
        if is_rung:
            job_ring(job=job)
    return job


def summary_work(run: JobRun) -> None:
    """The work of such a job. Its result is `{"summary", "state", "tokens", "range_tokens"}`."""
    kept = Summary.objects.filter(job=run.job, state__in=KEPT).first()
    if kept is not None:
        run.end("succeeded", error=None, result=_result(kept))
        return
    try:
        _Work(run).go()
    except SummaryFailed as failed:
        run.end("failed", error={"code": failed.code, "message": str(failed)})


class _Work:
    """One run of a job."""

    def __init__(self, run: JobRun) -> None:
        self.run = run
        self.params: dict[str, Any] = run.job.params
        self.session = self._session()
        self.plan = self._plan()

    def go(self) -> None:
        plan = self.plan
        with self.run.commit(is_progress=False, stage="range", unit="tokens", done=0, total=plan.range_tokens):
            pass
        self._check_archive()
        put = canaries(plan.range_sha256, plan.asked.canaries)
        text = clean_text(self._extract(put)).strip()
        with self.run.commit(is_progress=False, stage="checking"):
            pass
        self._keep(text, put)

    def _session(self) -> Session:
        found = Session.objects.select_related("current__source", "project").filter(public_id=self.params["session"]).first()
        if found is None or found.current is None:
            raise SummaryFailed("no_session", "The session is not there any more: import it again.")
        return found

    def _plan(self) -> SummaryPlan:
        try:
            plan = summary_plan(session=self.session, asked=summary_asked(self.params["asked"]))
        except SummaryRefused as refused:
            raise SummaryFailed(refused.code, f"{refused.field}: {refused}") from refused
        if (plan.view_sha256, plan.parent) != (self.params["view_sha256"], self.params["parent"]):
            what = f"The view of call {plan.to_call:,}, or the checkpoint before it, is not the one that was asked about: ask again."
            raise SummaryFailed("view_changed", what)
        if plan.problems:
            first = plan.problems[0]
            raise SummaryFailed(first.code, f"{first.field}: {first.message}" if first.field else first.message)
        return plan

    @property
    def revision(self) -> Revision:
        assert self.session.current is not None  # as `_session` checked
        return self.session.current

    def _check_archive(self) -> None:
        """What a checkpoint stands for must be there to go back to, byte for byte."""
        try:
            records = range_records(revision=self.revision, found=self.plan.range)
            differs = records_differ(source=self.revision.source, records=records)
        except RecordUnreadable as error:
            raise SummaryFailed("archive_unreadable", str(error)) from error
        if differs is not None:
            message = f"Record {differs:,} of the source is not what was imported: restore the raw bytes from a backup, or import again."
            raise SummaryFailed("archive_differs", message)

    def _extract(self, put: Sequence[Canary]) -> str:
        found = self.plan.range
        most = min(self.plan.asked.most_tokens, found.tokens // EXTRACT_SHARE)
        pieces = planted(merged_pieces(found), put)
        return extract(pieces, most_tokens=most, tokens=found.count, focus=self.plan.asked.focus)

    def _keep(self, text: str, put: Sequence[Canary]) -> None:
        found = self.plan.range
        pieces = planted(found.pieces, put)
        wrong = objections(text, pieces, expected=self._expected(), count=found.count)
        reason = self._refusal(text, wrong)
        state = Summary.State.REFUSED if reason else Summary.State.TRIAL if put else Summary.State.KEPT
        with transaction.atomic():
            summary = self._store(text, put, wrong, state=state, reason=reason)
            if reason:
                self.run.end("failed", error={"code": "refused", "message": _refused(reason)}, result=_result(summary))
            else:
                self.run.end("succeeded", error=None, result=_result(summary))

    def _expected(self) -> Sequence[Any]:
        return () if self.plan.asked.summarizer == EXTRACTIVE else SUMMARY_SECTIONS

    def _refusal(self, text: str, wrong: Sequence[Objection]) -> str:
        """The code of the gravest objection, or of the rule of the view that the checkpoint breaks; empty where it may stand."""
        if is_refused(wrong):
            return next(one.code for one in wrong if one.grave)
        found = self.plan.range
        if found.count(checkpoint_text(text)) >= found.tokens:
            return "not_smaller"
        try:
            found.replaced_by(text)
        except EditError:
            return "protocol"
        return ""

    def _store(self, text: str, put: Sequence[Canary], wrong: Sequence[Objection], *, state: str, reason: str) -> Summary:
        plan, found = self.plan, self.plan.range
        body = TextBody.of(text)
        bodies_store(bodies=[body])
        after = found.replaced_by(text).tokens if reason != "protocol" else plan.view_tokens
        return Summary.objects.create(
            public_id=secrets.token_hex(10),
            project=self.session.project,
            session=plan.session,
            job=self.run.job,
            attempt=self.run.job.attempt,
            state=state,
            reason=reason,
            trigger=self.params["trigger"],
            summarizer=plan.asked.summarizer,
            model=plan.model,
            shape="" if plan.asked.summarizer == EXTRACTIVE else plan.asked.shape,
            prompt_version=self.params["prompt_version"],
            params=plan.asked.to_json() | {"actor": self.params["actor"]},
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
            view_after=after,
            parent=found.parent,
            parent_place=plan.parent_place,
            objections=[asdict(one) for one in wrong],
            canaries=[asdict(one) for one in put],
            at=timezone.now(),
        )


def _key(session: Session, plan: SummaryPlan) -> str:
    """Of everything that the summary depends on: the same question is the same job."""
    asked = replace(plan.asked, from_call=plan.from_call, to_call=plan.to_call)
    told = [KIND, session.project_id, plan.session, plan.view_sha256, _version(plan), plan.model, plan.parent, asked.to_json()]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _version(plan: SummaryPlan) -> str:
    return EXTRACT_VERSION


def _params(session: Session, plan: SummaryPlan, actor: str, trigger: str) -> dict[str, Any]:
    asked = replace(plan.asked, to_call=plan.to_call)
    return {
        "name": f"calls {plan.from_call:,}–{plan.to_call:,} of {plan.session} with {plan.asked.summarizer}",
        "session": plan.session,
        "project": session.project_id,
        "asked": asked.to_json(),
        "view_sha256": plan.view_sha256,
        "parent": plan.parent,
        "prompt_version": _version(plan),
        "actor": actor,
        "trigger": trigger,
    }


def _result(summary: Summary) -> dict[str, Any]:
    return {"summary": summary.public_id, "state": summary.state, "tokens": summary.tokens, "range_tokens": summary.range_tokens}


def _refused(reason: str) -> str:
    return f"The summary was refused ({reason.replace('_', ' ')}); it is kept for reading and stands for nothing."
