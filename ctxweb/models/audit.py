"""The audit: what was found behind source pointers, and who signed it off, in one hash chain a project."""

from __future__ import annotations

from django.db import models

from ctxweb.models.projects import Project


class AuditEntry(models.Model):
    """One entry of a project's chain, append-only; its fields are those of `compaction.sources.chain.AuditEntry`, and
    `project` is its tenant. No entry holds content of a source.

    A sign-off is an entry too: `status` is `signed_off`, `pointer` what it is about (`session:<public id>` or
    `project:<id>`), `actor` the name, `reason` how that is known, and `digest` that of its `SignOff`.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="audit", db_index=False)
    seq = models.BigIntegerField()
    pointer = models.TextField()
    status = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, blank=True)
    reason = models.CharField(max_length=60, blank=True)
    actor = models.CharField(max_length=200)
    policy_version = models.CharField(max_length=40)
    resolver_version = models.CharField(max_length=40)
    started_at = models.CharField(max_length=32)
    finished_at = models.CharField(max_length=32)
    run = models.CharField(max_length=60, blank=True)
    prev_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)
    mac = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "seq"], name="audit_seq")]
        indexes = [
            models.Index(fields=["project", "pointer", "-seq"], name="audit_pointer"),
            models.Index(fields=["project", "finished_at"], name="audit_finished"),
        ]

    def __str__(self) -> str:
        return f"audit entry {self.seq} of {self.project_id}"


class SignOff(models.Model):
    """A person's word on a session or a project, append-only. The audit entry `seq` holds the digest of this row, so the chain
    covers the note. On one's own machine there are no accounts: the name is recorded as claimed."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="sign_offs", db_index=False)
    seq = models.BigIntegerField()
    subject = models.CharField(max_length=60)
    name = models.CharField(max_length=200)
    note = models.TextField(blank=True)
    at = models.CharField(max_length=32)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "seq"], name="sign_off_seq")]

    def __str__(self) -> str:
        return f"sign-off {self.seq} of {self.project_id}"


class AuditHead(models.Model):
    """The end of a project's chain: the number of its last entry, which is their count, and its hash. Written in the
    transaction that appends, under its lock, so that two workers cannot fork the chain; it is never deleted."""

    project = models.OneToOneField(Project, primary_key=True, on_delete=models.PROTECT, related_name="audit_head")
    seq = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"head of {self.project_id} at {self.seq}"
