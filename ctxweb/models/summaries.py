"""Summaries that jobs made, the model calls that they cost, and what analysis found in checkpoints.

Like durable state a summary hangs on the public id of its session: a rebuild does not touch it, for it was paid for and cannot be
made again. It is model output, never evidence: nothing here is read by what writes durable state.
"""

from __future__ import annotations

from django.db import models

from ctxweb.models.bodies import Body
from ctxweb.models.jobs import Job
from ctxweb.models.projects import Project


class Summary(models.Model):
    """What came of a summary job: a checkpoint that was kept, one that was refused, or a result that came too late.

    The range: `from_call` and `to_call` as asked, the blocks that they chose from the view of `to_call` as `blocks` (places
    `SEQ.I` in the order of the view), the records that hold them from `first_pointer` to `last_pointer`, with `range_sha256` over
    the SHA-256 of each. `view_sha256` is the digest of the view that it was made over, byte for byte the same afterwards.
    `tokens`, `range_tokens`, `view_before`, `view_after`: exact tokens under the encoding of the session.
    `parent`: the summary that an incremental one was merged with; `parent_place`: the recorded checkpoint, where it was one.
    `objections` is what containment found, each with code, line and inert words; a refused one has a grave one or the reason
    `reason`. A `trial` had canaries planted in its range, which are in `canaries`: it tests a summarizer and stands for nothing.
    """

    class State(models.TextChoices):
        KEPT = "kept"
        REFUSED = "refused"
        SUPERSEDED = "superseded"
        TRIAL = "trial"

    public_id = models.CharField(max_length=40, unique=True)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="summaries", db_index=False)
    session = models.CharField(max_length=40)
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="summaries")
    attempt = models.IntegerField()
    state = models.CharField(max_length=10, choices=State.choices)
    reason = models.CharField(max_length=40, blank=True)
    trigger = models.CharField(max_length=16)
    summarizer = models.CharField(max_length=40)
    model = models.CharField(max_length=200, blank=True)
    shape = models.CharField(max_length=10, blank=True)
    prompt_version = models.CharField(max_length=20)
    params = models.JSONField(default=dict)
    from_call = models.IntegerField()
    to_call = models.IntegerField()
    blocks = models.JSONField(default=list)
    first_pointer = models.CharField(max_length=200)
    last_pointer = models.CharField(max_length=200)
    range_sha256 = models.CharField(max_length=64)
    view_sha256 = models.CharField(max_length=64)
    body = models.ForeignKey(Body, on_delete=models.PROTECT, related_name="summaries")
    tokens = models.IntegerField()
    range_tokens = models.IntegerField()
    view_before = models.IntegerField()
    view_after = models.IntegerField()
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="children")
    parent_place = models.CharField(max_length=40, blank=True)
    objections = models.JSONField(default=list)
    canaries = models.JSONField(default=list)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job"], condition=models.Q(state__in=("kept", "trial")), name="summary_of_job"),
        ]
        indexes = [models.Index(fields=["session", "to_call"], name="summary_session")]

    def __str__(self) -> str:
        return f"summary {self.public_id}"


class SummaryCall(models.Model):
    """One call of a paid or local model for a summary job: reserved before it is made, settled after it.

    `number` counts the calls of the job from 1, over all of its attempts: a row is written before the call, so one that no
    answer followed is `lost` and was paid for as reserved. Money is in nano-dollars; None where the model has no known price.
    `usage` has the four disjoint buckets as the provider reported them, null where it did not; `code` says how it ended.
    """

    class State(models.TextChoices):
        RESERVED = "reserved"
        ANSWERED = "answered"
        FAILED = "failed"
        LOST = "lost"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="summary_calls", db_index=False)
    session = models.CharField(max_length=40)
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="calls")
    number = models.IntegerField()
    attempt = models.IntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.RESERVED)
    summarizer = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    shape = models.CharField(max_length=10)
    input_tokens = models.IntegerField()
    input_exact = models.BooleanField(default=False)
    most_output_tokens = models.IntegerField()
    reserved_nano = models.BigIntegerField(null=True)
    cost_nano = models.BigIntegerField(null=True)
    usage = models.JSONField(default=dict)
    code = models.CharField(max_length=40, blank=True)
    status = models.IntegerField(null=True)
    message = models.TextField(blank=True)
    retry_after = models.FloatField(null=True)
    request_id = models.CharField(max_length=200, blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="summary_call_number")]
        indexes = [
            models.Index(fields=["project", "started_at"], name="summary_call_at"),
            models.Index(fields=["session"], name="summary_call_session"),
        ]

    def __str__(self) -> str:
        return f"call {self.number} of job {self.job_id}"


class Breaker(models.Model):
    """Whether a model may be called for a project: after three failures in a row not before `open_until`, then one probe."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="breakers", db_index=False)
    summarizer = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    failures = models.IntegerField(default=0)
    open_until = models.DateTimeField(null=True)
    probing_until = models.DateTimeField(null=True)
    last_code = models.CharField(max_length=40, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "summarizer", "model"], name="breaker_model")]

    def __str__(self) -> str:
        return f"breaker of {self.summarizer} {self.model}"


class CheckpointAnalysis(models.Model):
    """What was computed of a checkpoint or a chain, kept because a huge range takes seconds. It can be made again at any time.

    `subject` names what it is of, `kind` which analysis; `inputs` is the digest of all that it was computed from, the version of
    the analysis included: another digest means that it has to be made again.
    """

    session = models.CharField(max_length=40)
    subject = models.CharField(max_length=100)
    kind = models.CharField(max_length=20)
    inputs = models.CharField(max_length=64)
    data = models.JSONField()
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "subject", "kind"], name="analysis_subject")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.subject}"
