"""Texts of blocks, stored once however often they are repeated, and their token counts."""

from __future__ import annotations

from django.db import models


class Body(models.Model):
    """A text, found by the first 16 bytes of its SHA-256. NUL is stored as U+2400.

    The other columns are its `TextSizes` (compaction/counters/units.py), measured once when it is stored: what the units of
    policies price it by. `object_…` are None where the text is no JSON object, all are None where it was not measured.
    """

    digest = models.BinaryField(max_length=16, unique=True)
    text = models.TextField()
    chars = models.IntegerField()
    utf16 = models.IntegerField(null=True)
    utf8 = models.IntegerField(null=True)
    json = models.IntegerField(null=True)
    repr = models.IntegerField(null=True)
    object_json = models.IntegerField(null=True)
    object_repr = models.IntegerField(null=True)
    object_compact = models.IntegerField(null=True)

    def __str__(self) -> str:
        return f"body {bytes(self.digest).hex()}"


class TokenCount(models.Model):
    """Tokens of a body under a named public tokenizer. `exact` is False where it had to be counted in pieces."""

    body = models.ForeignKey(Body, on_delete=models.CASCADE, related_name="counts", db_index=False)
    encoding = models.CharField(max_length=20)
    tokens = models.IntegerField()
    exact = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["body", "encoding"], name="body_encoding")]

    def __str__(self) -> str:
        return f"{self.encoding} of body {self.body_id}"
