"""Compaction histories: spans (what was visible when) and the ledger (which edit took what)."""

from __future__ import annotations

from django.db import models

from ctxweb.models.sessions import Revision


class History(models.Model):
    """All compactions over one lane. The recorded one is made by the import; `bins` is its context map in ≤ 300 bins."""

    public_id = models.CharField(max_length=40)
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="histories", db_index=False)
    origin = models.CharField(max_length=10)
    policy = models.CharField(max_length=60, blank=True)
    bins = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["revision", "public_id"], name="history_of_revision")]
        indexes = [models.Index(fields=["public_id"], name="history_public_id")]

    def __str__(self) -> str:
        return f"history {self.public_id}"


class Compaction(models.Model):
    """One compaction: reported sizes, and the balance of the estimates before − removed + added = after."""

    history = models.ForeignKey(History, on_delete=models.CASCADE, related_name="compactions", db_index=False)
    ordinal = models.IntegerField()
    index = models.IntegerField(null=True)
    before_call = models.IntegerField(null=True)
    line = models.BigIntegerField()
    origin = models.CharField(max_length=10)
    mechanism = models.CharField(max_length=24)
    layer = models.CharField(max_length=40)
    trigger = models.CharField(max_length=16)
    status = models.CharField(max_length=10)
    scale = models.CharField(max_length=10, default="prompt")
    native_id = models.TextField(blank=True)
    at = models.DateTimeField(null=True)
    detached = models.BooleanField(default=False)
    tokens_before = models.BigIntegerField(null=True)
    tokens_after = models.BigIntegerField(null=True)
    reported_before = models.BigIntegerField(null=True)
    reported_after = models.BigIntegerField(null=True)
    estimate_before = models.BigIntegerField(default=0)
    removed = models.BigIntegerField(default=0)
    added = models.BigIntegerField(default=0)
    estimate_after = models.BigIntegerField(default=0)
    entered = models.BigIntegerField(default=0)
    unexplained_before = models.BigIntegerField(null=True)
    unexplained_after = models.BigIntegerField(null=True)
    edits = models.IntegerField(default=0)
    never_sent = models.IntegerField(default=0)
    evidence = models.JSONField(default=dict)
    flags = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["history", "ordinal"], name="compaction_ordinal")]

    def __str__(self) -> str:
        return f"compaction {self.ordinal}"


class LedgerEntry(models.Model):
    """One edit of one block. `tokens_*` are estimates; an added message's blocks are entries with verb `restore`
    or `summarise` and `tokens_before` 0."""

    history = models.ForeignKey(History, on_delete=models.CASCADE, related_name="entries", db_index=False)
    compaction = models.ForeignKey(Compaction, on_delete=models.CASCADE, related_name="entries", db_index=False)
    ordinal = models.IntegerField()
    verb = models.CharField(max_length=10)
    layer = models.CharField(max_length=40)
    seq = models.IntegerField()
    i = models.IntegerField()
    adds = models.BooleanField(default=False)
    state_before = models.CharField(max_length=10, blank=True)
    state_after = models.CharField(max_length=10, blank=True)
    tokens_before = models.IntegerField(default=0)
    tokens_after = models.IntegerField(default=0)
    never_sent = models.BooleanField(default=False)
    body_after = models.BinaryField(max_length=16, null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["history", "ordinal"], name="entry_ordinal")]
        indexes = [
            models.Index(fields=["history", "seq", "i"], name="entry_block"),
            models.Index(fields=["compaction", "ordinal"], name="entry_compaction"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.seq}.{self.i}"


class Span(models.Model):
    """A block in one state, visible in the calls n with from_call ≤ n < to_call (to_call is large while it is visible).

    A view at call n is one query: from_call ≤ n < to_call, ordered by position. Spans that no call saw are not stored.
    """

    STILL_VISIBLE = 2_000_000_000

    history = models.ForeignKey(History, on_delete=models.CASCADE, related_name="spans", db_index=False)
    seq = models.IntegerField()
    i = models.IntegerField()
    state = models.CharField(max_length=10)
    from_call = models.IntegerField()
    to_call = models.IntegerField(default=STILL_VISIBLE)
    position = models.FloatField()
    estimate = models.IntegerField()
    tokens = models.IntegerField(null=True)
    body = models.BinaryField(max_length=16, null=True)

    class Meta:
        indexes = [
            models.Index(fields=["history", "to_call", "from_call"], name="span_calls"),
            models.Index(fields=["history", "seq", "i"], name="span_block"),
        ]

    def __str__(self) -> str:
        return f"span {self.seq}.{self.i} {self.from_call}–{self.to_call}"
