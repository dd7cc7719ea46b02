"""A summary of a range of a view, made by a job and kept as a checkpoint. It changes no view and no durable state.

The order of the work: the plan is as it was when somebody asked, the raw records of the range are there and unchanged, then the
summarizer, then what is wrong with its answer; the summary and the end of the job are one transaction.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.utils import timezone

from compaction.retention.canaries import Canary, canaries, planted
from compaction.summarizers.extracts import extract
from ctxweb.importers.values import clean_text
from ctxweb.jobs import FINAL, JobLost, JobRun, job_open, job_ring
from ctxweb.models import Job, Session, Summary
from ctxweb.services.checkpoint_plan import Planned, SummaryPlan, range_records, summary_plan, summary_planned
from ctxweb.services.record_read import RecordUnreadable, records_differ
from ctxweb.services.summary_asked import SummaryAsked, SummaryFailed, SummaryRefused, summary_asked
from ctxweb.services.summary_calls import MOST_CALLS, call_judged, calls_lose, calls_lost, codes_of_round
from ctxweb.services.summary_judge import TOO_LONG, Verdict, summary_verdict
from ctxweb.services.summary_model import Written, model_summary
from ctxweb.services.summary_prompts import told_tokens
from ctxweb.services.summary_range import merged_pieces
from ctxweb.services.summary_store import summary_result, summary_store

KIND = "summary"
KEPT = (Summary.State.KEPT, Summary.State.TRIAL)
EXTRACT_SHARE = 4  # an extract has at most this part of its range


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
    calls_lose(job=run.job)
    for number in calls_lost(job=run.job):
        run.note(f"call {number} was cut off before an answer was stored: it counts as one of {MOST_CALLS}, and as spent")
    kept = Summary.objects.filter(job=run.job, state__in=KEPT).first()
    if kept is not None:
        run.end("succeeded", error=None, result=summary_result(kept))
        return
    try:
        _Work(run).go()
    except SummaryFailed as failed:
        error = {"code": failed.code, "message": str(failed)}
        if failed.run_after is None:
            run.end("failed", error=error)
        else:
            run.end("queued", error=error, run_after=failed.run_after)


class _Work:
    """One run of a job."""

    def __init__(self, run: JobRun) -> None:
        self.run = run
        self.params: dict[str, Any] = run.job.params
        self.session = self._session()
        self.planned = self._planned()
        self.put = canaries(self.planned.plan.range_sha256, self.planned.plan.asked.canaries)

    @property
    def plan(self) -> SummaryPlan:
        return self.planned.plan

    def go(self) -> None:
        with self.run.commit(is_progress=False, stage="range", unit="tokens", done=0, total=None):
            pass
        self._check_archive()
        written = self._write(self._told())
        verdict = self._verdict(written)
        try:
            with self.run.commit(is_progress=False, stage="checking", unit="tokens", done=0, total=None):
                pass
            self._end(written, verdict)
        except JobLost:
            self._store(written, verdict, state=Summary.State.SUPERSEDED)  # it came too late, and was paid for
            raise

    def _told(self) -> int:
        """The most tokens that are asked for: half as many after a summary that was not smaller than its range."""
        too_long = sum(code in TOO_LONG for code in codes_of_round(job=self.run.job))
        return told_tokens(found=self.planned.range, asked=self.plan.asked) >> too_long

    def _session(self) -> Session:
        found = Session.objects.select_related("current__source", "project").filter(public_id=self.params["session"]).first()
        if found is None or found.current is None:
            raise SummaryFailed("no_session", "The session is not there any more: import it again.")
        return found

    def _planned(self) -> Planned:
        try:
            planned = summary_planned(session=self.session, asked=summary_asked(self.params["asked"]))
        except SummaryRefused as refused:
            raise SummaryFailed(refused.code, f"{refused.field}: {refused}") from refused
        plan = planned.plan
        for name, value, what in (
            ("view_sha256", plan.view_sha256, f"The view of call {plan.to_call:,}"),
            ("parent", plan.parent, "The checkpoint that it is merged with"),
            ("model", plan.model, "The model"),
            ("prompt_version", plan.prompt_version, "The wording of the prompt"),
        ):
            if self.params[name] != value:
                raise SummaryFailed(f"{name}_changed", f"{what} is not the one that was asked about: ask for the summary again.")
        if plan.problems:
            first = plan.problems[0]
            raise SummaryFailed(first.code, f"{first.field}: {first.message}" if first.field else first.message)
        return planned

    def _check_archive(self) -> None:
        """What a checkpoint stands for must be there to go back to, byte for byte."""
        revision = self.planned.revision
        try:
            differs = records_differ(source=revision.source, records=range_records(revision=revision, found=self.planned.range))
        except RecordUnreadable as error:
            raise SummaryFailed("archive_unreadable", str(error)) from error
        if differs is not None:
            message = f"Record {differs:,} of the source is not what was imported: restore the raw bytes from a backup, or import again."
            raise SummaryFailed("archive_differs", message)

    def _write(self, told: int) -> Written:
        if self.plan.is_model:
            return model_summary(run=self.run, planned=self.planned, put=self.put, told=told)
        return Written(text=_extracted(self.planned, self.put))

    def _verdict(self, written: Written) -> Verdict:
        verdict = summary_verdict(
            text=written.text, found=self.planned.range, is_model=self.plan.is_model, nonce=written.nonce, put=self.put
        )
        if written.call is not None and verdict.reason:
            call_judged(call=written.call, code=verdict.reason)
        return verdict

    def _end(self, written: Written, verdict: Verdict) -> None:
        if not verdict.reason:
            with transaction.atomic():
                summary = self._store(written, verdict, state=Summary.State.TRIAL if self.put else Summary.State.KEPT)
                self.run.end("succeeded", error=None, result=summary_result(summary))
            return
        error = {"code": f"refused_{verdict.reason}", "message": _refused(verdict.reason)}
        if self.plan.is_model and verdict.reason in TOO_LONG and len(codes_of_round(job=self.run.job)) < MOST_CALLS:
            raise SummaryFailed(**error, run_after=timezone.now())  # a run of its own: two calls are longer than a task may be
        with transaction.atomic():
            summary = self._store(written, verdict, state=Summary.State.REFUSED)
            self.run.end("failed", error=error, result=summary_result(summary))

    def _store(self, written: Written, verdict: Verdict, *, state: str) -> Summary:
        return summary_store(
            job=self.run.job,
            session=self.session,
            planned=self.planned,
            text=written.text,
            state=state,
            reason=verdict.reason,
            wrong=verdict.objections,
            put=self.put,
        )


def _extracted(planned: Planned, put: Sequence[Canary]) -> str:
    found, asked = planned.range, planned.plan.asked
    most = min(asked.most_tokens, found.tokens // EXTRACT_SHARE)
    text = extract(planted(merged_pieces(found), put), most_tokens=most, tokens=found.count, focus=asked.focus)
    return clean_text(text).strip()


def _key(session: Session, plan: SummaryPlan) -> str:
    """Of everything that the summary depends on: the same question is the same job."""
    asked = replace(plan.asked, from_call=plan.from_call, to_call=plan.to_call)
    told = [KIND, session.project_id, plan.session, plan.view_sha256, plan.prompt_version, plan.model, plan.parent, asked.to_json()]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _params(session: Session, plan: SummaryPlan, actor: str, trigger: str) -> dict[str, Any]:
    return {
        "name": f"calls {plan.from_call:,}–{plan.to_call:,} of {plan.session} with {plan.asked.summarizer}",
        "session": plan.session,
        "project": session.project_id,
        "asked": replace(plan.asked, to_call=plan.to_call).to_json(),
        "view_sha256": plan.view_sha256,
        "parent": plan.parent,
        "model": plan.model,
        "prompt_version": plan.prompt_version,
        "actor": actor,
        "trigger": trigger,
    }


def _refused(reason: str) -> str:
    return f"The summary was refused ({reason.replace('_', ' ')}); its text is kept for reading and stands for nothing."
