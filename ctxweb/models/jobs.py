"""Background work. The row is the truth; Celery only rings the bell."""

from __future__ import annotations

from django.db import models


class Job(models.Model):
    """One piece of work. State changes by compare-and-swap on (state, attempt); a lease that ran out is swept.

    `attempt` goes up before each run; `fruitless` counts the runs since the last committed progress. `cursor` says where
    the next run goes on. `log` holds the last lines for people. `version` goes up with every change.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        LEASED = "leased"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"
        ABANDONED = "abandoned"

    public_id = models.CharField(max_length=40, unique=True)
    kind = models.CharField(max_length=30)
    key = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    stage = models.CharField(max_length=24, blank=True)
    params = models.JSONField(default=dict)
    cursor = models.JSONField(default=dict)
    attempt = models.IntegerField(default=0)
    fruitless = models.IntegerField(default=0)
    worker = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True)
    run_after = models.DateTimeField(null=True)
    cancel_requested = models.BooleanField(default=False)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    unit = models.CharField(max_length=12, default="bytes")
    version = models.IntegerField(default=0)
    error = models.JSONField(null=True)
    result = models.JSONField(null=True)
    log = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["state", "lease_until"], name="job_state")]

    def __str__(self) -> str:
        return f"job {self.public_id}"
