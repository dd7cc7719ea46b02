"""`manage.py summarise SESSION [--from N] [--to N] [--with ID] [--dry-run] [--json]`: a checkpoint of a part of a session."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from ctxweb.jobs import FINAL, job_claim
from ctxweb.llm.registry import SUMMARIZERS
from ctxweb.models import Job, Session, Summary
from ctxweb.services.checkpoint_plan import SummaryPlan, summary_plan
from ctxweb.services.checkpoint_summarize import summary_open
from ctxweb.services.database_prepare import database_prepare
from ctxweb.services.jobs_run import claimed_run
from ctxweb.services.summary_asked import EXTRACTIVE, SHAPES, SummaryAsked, SummaryRefused
from ctxweb.services.summary_calls import NANO

LOOK_SECONDS = 0.2  # between two looks at a job that waits, or that another process works on
WHO = "command"


class Command(BaseCommand):
    help = "Summarise what came with some calls of a session, and keep it as a checkpoint. The session and its views stay as they are."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("session", metavar="SESSION", help="public id of the session")
        parser.add_argument("--from", type=int, dest="from_call", metavar="N", help="first call (default: 1)")
        parser.add_argument("--to", type=int, dest="to_call", metavar="N", help="last call, whose view it is (default: the last)")
        parser.add_argument(
            "--with", dest="summarizer", default=EXTRACTIVE, choices=[kind.id for kind in SUMMARIZERS], help="who writes it"
        )
        parser.add_argument("--shape", default="framed", choices=SHAPES, help="how a model is asked; only prefix can reuse its cache")
        parser.add_argument("--focus", default="", metavar="TEXT", help="what is to be kept above all")
        parser.add_argument("--keep", type=int, default=0, dest="keep_tokens", metavar="N", help="the newest N tokens of the view stay")
        parser.add_argument("--incremental", action="store_true", dest="is_incremental", help="merge with the last checkpoint")
        parser.add_argument("--canaries", type=int, default=0, metavar="N", help="a trial: plant N sentences, which stand for nothing")
        parser.add_argument("--max-tokens", type=int, default=0, metavar="N", help="the most that a model may answer")
        parser.add_argument("--dry-run", action="store_true", help="say what it would take and cost, and ask nobody")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        database_prepare()
        session = (
            Session.objects.select_related("current__source", "project").filter(public_id=options["session"], current__isnull=False).first()
        )
        if session is None:
            raise CommandError(f"There is no session {options['session']!r}: take the id from the sessions page or from import_sessions.")
        try:
            asked = SummaryAsked(**{name: options[name] for name in (field.name for field in fields(SummaryAsked))})
            if options["dry_run"]:
                plan = summary_plan(session=session, asked=asked)
                self._tell(options, asdict(plan), _plan_lines(plan))
                return
            job = summary_open(session=session, asked=asked, actor=WHO, is_rung=False)
        except SummaryRefused as refused:
            raise CommandError(f"{refused.field}: {refused}" if refused.field else str(refused)) from refused
        self._finish(options, job)

    def _finish(self, options: dict[str, Any], job: Job) -> None:
        _work_until_ended(job, self.stderr.write)
        summary = Summary.objects.select_related("body").filter(public_id=(job.result or {}).get("summary", "")).first()
        told = {"job": job.public_id, "state": job.state, "error": job.error, "result": job.result}
        if options["json"]:
            self._tell(options, told | {"text": summary.body.text if summary is not None else None}, ())
        if job.state != Job.State.SUCCEEDED:
            reason = job.error or {"message": f"The job was {job.state}."}
            raise CommandError(reason["message"])
        if not options["json"] and summary is not None:
            self.stdout.write(summary.body.text)
            self.stderr.write(f"{summary.tokens:,} tokens for {summary.range_tokens:,}; kept as {summary.public_id}")

    def _tell(self, options: dict[str, Any], told: Any, lines: Iterable[str]) -> None:
        for line in [json.dumps(told, cls=DjangoJSONEncoder, ensure_ascii=False)] if options["json"] else lines:
            self.stdout.write(line)


def _work_until_ended(job: Job, say: Any) -> None:
    """Work on the job in this process; where it waits for a time, or another process has it, wait for that."""
    stage = ""
    while job.state not in FINAL:
        is_due = job.run_after is None or job.run_after <= timezone.now()
        claimed = job_claim(job_id=job.pk) if is_due else None
        if claimed is None:
            time.sleep(LOOK_SECONDS)
        else:
            claimed_run(job=claimed)
        job.refresh_from_db()
        if job.error is not None and job.state == Job.State.QUEUED and job.error["message"] != stage:
            stage = job.error["message"]
            say(f"{stage} It is tried again.")


def _plan_lines(plan: SummaryPlan) -> Iterable[str]:
    blocks = f"{len(plan.blocks):,} blocks of {plan.messages:,} messages"
    yield f"calls {plan.from_call:,}–{plan.to_call:,}: {blocks}, {plan.range_tokens:,} tokens"
    yield f"of a view of {plan.view_tokens:,} tokens; records {plan.first_pointer or '–'} to {plan.last_pointer or '–'}"
    if plan.is_moved:
        yield "a boundary moved, so that no tool call loses its result"
    if plan.parent or plan.parent_place:
        yield f"merged with the checkpoint {plan.parent or plan.parent_place}; {plan.fresh_tokens:,} tokens are read"
    if plan.is_model and plan.model:
        cost = "–" if plan.cost_nano is None else f"at most ≈ ${plan.cost_nano / NANO:.4f}"
        yield f"{plan.model}: ≈ {plan.input_tokens:,} tokens in, {cost} a call"
    for problem in plan.problems:
        yield f"it cannot run: {problem.field + ': ' if problem.field else ''}{problem.message}"
