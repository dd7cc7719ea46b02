"""Durable state of sessions. It hangs on public ids, so neither a rebuild nor another import of a session touches it.

`DurableVersion`, `DurableProposal` and `DurableDecision` are append-only: triggers of the database refuse UPDATE and DELETE.
`DurableItem` is an index of the last versions and can be made again from them.
"""

from __future__ import annotations

from django.db import models

from ctxweb.models.projects import Project


class DurableVersion(models.Model):
    """One version of a session's durable state: `state` is the canonical JSON of the whole, `sha256` its digest.

    `session` is the public id of the session, `number` counts from 1 without gaps, `parent` is the number before it (None
    for the first). `confirmed` is JSON, `{pointer: SHA-256}`: what each source was when an item was last confirmed by it;
    a pointer whose source was not available then is not in it.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="durable_versions", db_index=False)
    session = models.CharField(max_length=40)
    number = models.IntegerField()
    parent = models.IntegerField(null=True)
    state = models.TextField()
    sha256 = models.CharField(max_length=64)
    confirmed = models.TextField(default="{}")
    author = models.CharField(max_length=200)
    reason = models.TextField(blank=True)
    origin = models.CharField(max_length=20)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "number"], name="durable_version_number")]
        indexes = [models.Index(fields=["project", "at"], name="durable_version_at")]

    def __str__(self) -> str:
        return f"version {self.number} of the durable state of {self.session}"


class DurableProposal(models.Model):
    """An item that is not part of the state: a candidate, until a person confirms it, or the other side of a conflict.

    `item` is canonical JSON; `base` is the version that it met (0: none). `kind` is `candidate` where a rule or a summary
    found it, `conflict` where the state has the same id with another content, confirmed by somebody else.
    """

    session = models.CharField(max_length=40)
    number = models.IntegerField()
    kind = models.CharField(max_length=10)
    domain = models.CharField(max_length=20)
    item_id = models.TextField()
    item = models.TextField()
    sha256 = models.CharField(max_length=64)
    base = models.IntegerField()
    author = models.CharField(max_length=200)
    origin = models.CharField(max_length=20)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "number"], name="durable_proposal_number")]

    def __str__(self) -> str:
        return f"{self.kind} {self.number} of {self.session}"


class DurableDecision(models.Model):
    """What a person decided about a proposal, once. `version` is the version that an accepted one became part of."""

    proposal = models.OneToOneField(DurableProposal, on_delete=models.PROTECT, related_name="decision")
    accepted = models.BooleanField()
    version = models.IntegerField(null=True)
    author = models.CharField(max_length=200)
    note = models.TextField(blank=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"decision on {self.proposal_id}"


class DurableItem(models.Model):
    """One item of a session's last version. `pointer` is where its source is: the `source_id` of retrieval evidence, which may
    be no pointer at all, and empty for a retrieval trace. `confirmed_sha256` is what the source was at its confirmation."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="durable_items", db_index=False)
    session = models.CharField(max_length=40)
    version = models.IntegerField()
    domain = models.CharField(max_length=20)
    ordinal = models.IntegerField()
    item_id = models.TextField()
    pointer = models.TextField(blank=True)
    status = models.CharField(max_length=10, blank=True)
    confirmed_at = models.CharField(max_length=40, blank=True)
    confirmed_sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "domain", "ordinal"], name="durable_item_place")]
        indexes = [models.Index(fields=["project", "pointer"], name="durable_item_pointer")]

    def __str__(self) -> str:
        return f"{self.domain} {self.ordinal} of {self.session}"
