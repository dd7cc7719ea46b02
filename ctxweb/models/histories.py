"""Compaction histories: spans (what was visible when) and the ledger (which edit took what)."""

from __future__ import annotations

from django.db import models

from ctxweb.models.bodies import Body
from ctxweb.models.sessions import Revision


class History(models.Model):
    """All compactions over one lane. The recorded one is made by the import; `bins` is its context map in ≤ 300 bins.

    A replayed one (`origin` replayed) was made by a policy: `policy` is its id, `policy_data` the whole of it, `settings` how it
    was replayed (count, summaries, orphans, and the limits that were set), `unit` the id of the policy's own unit, and
    `report` what came of it: `firings` with a report a layer, `findings`, sums.
    """

    public_id = models.CharField(max_length=40)
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="histories", db_index=False)
    origin = models.CharField(max_length=10)
    policy = models.CharField(max_length=60, blank=True)
    bins = models.JSONField(default=dict)
    policy_data = models.JSONField(default=dict)
    settings = models.JSONField(default=dict)
    unit = models.CharField(max_length=20, blank=True)
    report = models.JSONField(default=dict)
    pinned = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["revision", "public_id"], name="history_of_revision")]
        indexes = [models.Index(fields=["public_id"], name="history_public_id")]

    def __str__(self) -> str:
        return f"history {self.public_id}"


class Compaction(models.Model):
    """One compaction: reported sizes, and the balance of the estimates before − removed + added = after.

    A replayed one also has the size of the view in the policy's own unit and in exact tokens, and in `reports` what each
    layer did there or why it did not run.
    """

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
    own_before = models.BigIntegerField(null=True)
    own_after = models.BigIntegerField(null=True)
    exact_before = models.BigIntegerField(null=True)
    exact_after = models.BigIntegerField(null=True)
    reports = models.JSONField(default=list)
    evidence = models.JSONField(default=dict)
    flags = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["history", "ordinal"], name="compaction_ordinal")]

    def __str__(self) -> str:
        return f"compaction {self.ordinal}"


class LedgerEntry(models.Model):
    """One edit of one block. `tokens_*` are estimates; an added message's blocks are entries with verb `restore`
    or `summarise` and `tokens_before` 0. Of a replayed edit `own_*` are in the policy's unit and `exact_*` exact tokens;
    `pointer` says where a text went that was spilled."""

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
    own_before = models.IntegerField(null=True)
    own_after = models.IntegerField(null=True)
    exact_before = models.IntegerField(null=True)
    exact_after = models.IntegerField(null=True)
    pointer = models.CharField(max_length=200, blank=True)
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


class AddedBlock(models.Model):
    """A block that a replayed history put into its view: a summary, a placeholder, a file attached again. No file logged it.

    `seq` goes on behind the last message of the lane, so that within its history a place names one block.
    """

    history = models.ForeignKey(History, on_delete=models.CASCADE, related_name="added", db_index=False)
    seq = models.IntegerField()
    i = models.IntegerField()
    role = models.CharField(max_length=12)
    origin = models.CharField(max_length=12)
    kind = models.CharField(max_length=12)
    body = models.ForeignKey(Body, on_delete=models.PROTECT, related_name="added", db_index=False)
    tokens = models.IntegerField(null=True)
    estimate = models.IntegerField(default=0)
    chars = models.IntegerField(default=0)
    tool_id = models.TextField(blank=True)
    tool_name = models.TextField(blank=True)
    path = models.TextField(blank=True)
    excerpt = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["history", "seq", "i"], name="added_place")]
        indexes = [models.Index(fields=["body"], name="added_body")]

    def __str__(self) -> str:
        return f"added block {self.seq}.{self.i}"


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
