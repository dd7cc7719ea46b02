"""Sources as they were given, and the verdict on each of their records."""

from __future__ import annotations

from django.db import models


class Source(models.Model):
    """One file as given, or one member of an archive.

    The bytes lie in the blob store under `sha256`; `stream_sha256`, `stream_size` and all offsets refer to the unpacked,
    transcoded stream. `opening` is the SHA-256 of the stream's first line: states of one growing file share it.
    Readers see a source, and the records up to `record_count`, only when it is `ready`. `superseded_by` is set where
    no session shows this source any more; its bytes and its report stay.
    """

    class State(models.TextChoices):
        IMPORTING = "importing"
        READY = "ready"
        FAILED = "failed"

    sha256 = models.CharField(max_length=64)
    stream_sha256 = models.CharField(max_length=64, blank=True, db_index=True)
    opening = models.CharField(max_length=64, blank=True, db_index=True)
    size = models.BigIntegerField()
    stream_size = models.BigIntegerField(null=True)
    name = models.TextField()
    format = models.CharField(max_length=40, blank=True)
    layout = models.CharField(max_length=16, blank=True)
    member = models.TextField(blank=True)
    state = models.CharField(max_length=12, choices=State.choices, default=State.IMPORTING)
    record_count = models.BigIntegerField(default=0)
    verdicts = models.JSONField(default=dict)
    unknown_types = models.JSONField(default=dict)
    flag_counts = models.JSONField(default=dict)
    error = models.JSONField(null=True)
    superseded_by = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="superseded")
    imported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["sha256", "member"], name="source_bytes")]

    def __str__(self) -> str:
        return f"source {self.sha256[:12]}"


class Record(models.Model):
    """One record of a source: where it lies, what it is, and the verdict on it."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="records", db_index=False)
    number = models.BigIntegerField()
    line = models.BigIntegerField()
    offset = models.BigIntegerField()
    length = models.BigIntegerField()
    digest = models.BinaryField(max_length=32)
    verdict = models.CharField(max_length=20)
    type = models.CharField(max_length=80, blank=True)
    flags = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "number"], name="record_number")]
        indexes = [models.Index(fields=["source", "verdict", "number"], name="record_verdict")]

    def __str__(self) -> str:
        return f"record {self.number} of source {self.source_id}"
