"""Sessions (one row a lane) and what was logged in them."""

from __future__ import annotations

from django.db import models

from compaction.windows import assumed_window
from ctxweb.models.bodies import Body
from ctxweb.models.projects import LOCAL, Project
from ctxweb.models.sources import Source


class Session(models.Model):
    """One lane of a conversation. Its figures are those of `current`, the revision that readers see."""

    public_id = models.CharField(max_length=40, unique=True)
    project = models.ForeignKey(Project, default=LOCAL, on_delete=models.PROTECT, related_name="sessions")
    native_id = models.TextField(blank=True, db_index=True)
    format = models.CharField(max_length=40)
    lane = models.CharField(max_length=12)
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="lanes")
    parent_native_id = models.TextField(blank=True, db_index=True)
    parent_tool_id = models.TextField(blank=True)
    continues = models.TextField(blank=True)
    current = models.ForeignKey("Revision", null=True, on_delete=models.SET_NULL, related_name="+")
    title = models.TextField(blank=True)
    cwd = models.TextField(blank=True, db_index=True)
    git_branch = models.TextField(blank=True)
    model = models.TextField(blank=True)
    producer = models.TextField(blank=True)
    producer_version = models.TextField(blank=True)
    context_window = models.IntegerField(null=True)
    encoding = models.CharField(max_length=20, blank=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True, db_index=True)
    record_count = models.BigIntegerField(default=0)
    verdicts = models.JSONField(default=dict)
    messages_logged = models.IntegerField(default=0)
    message_count = models.IntegerField(default=0)
    block_count = models.IntegerField(default=0)
    call_count = models.IntegerField(default=0)
    tool_calls = models.IntegerField(default=0)
    tool_results = models.IntegerField(default=0)
    images = models.IntegerField(default=0)
    input_tokens = models.BigIntegerField(null=True)
    cache_write_tokens = models.BigIntegerField(null=True)
    cache_read_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    usage_flags = models.JSONField(default=list)
    peak_context = models.BigIntegerField(null=True)
    recorded_compactions = models.IntegerField(default=0)
    inferred_drops = models.IntegerField(default=0)
    removed_blocks = models.IntegerField(default=0)
    findings = models.IntegerField(default=0)
    spark = models.JSONField(default=dict)
    imported_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"session {self.public_id}"

    @property
    def window(self) -> int | None:
        """The context window in tokens: as recorded, else the published one of the model, else None."""
        return self.context_window or assumed_window(self.model, peak=self.peak_context)

    @property
    def window_is_assumed(self) -> bool:
        return self.context_window is None and self.window is not None


class Revision(models.Model):
    """One reading of a session from a source. Its rows become visible when it is the `current` one of its session.

    While it is `importing` it has no session yet: a session is there only when it can be read as a whole. `ready` is
    current; `superseded` is an earlier or less full reading, kept with its source; `discarded` is contained in another
    and will be removed. `records` are the ranges [first, last] of the source's record numbers that belong to the lane,
    `facts` what the importer says of the lane, `figures` its counts and sums (docs/importing.md).
    """

    class State(models.TextChoices):
        IMPORTING = "importing"
        READY = "ready"
        SUPERSEDED = "superseded"
        DISCARDED = "discarded"

    session = models.ForeignKey(Session, null=True, on_delete=models.CASCADE, related_name="revisions")
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="revisions")
    state = models.CharField(max_length=12, choices=State.choices, default=State.IMPORTING)
    records = models.JSONField(default=list)
    facts = models.JSONField(default=dict)
    figures = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"revision {self.pk} of session {self.session_id}"


class Message(models.Model):
    """One logged message; `records` of the file were folded into it. `call` produced it."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="messages", db_index=False)
    seq = models.IntegerField()
    role = models.CharField(max_length=12)
    origin = models.CharField(max_length=12)
    line = models.BigIntegerField()
    record = models.BigIntegerField()
    records = models.IntegerField(default=1)
    native_id = models.TextField(blank=True)
    at = models.DateTimeField(null=True)
    model = models.TextField(blank=True)
    call = models.IntegerField(null=True)
    label = models.TextField(blank=True)
    visible = models.CharField(max_length=8, default="yes")
    inherited = models.BooleanField(default=False)
    abandoned = models.BooleanField(default=False)
    flags = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["revision", "seq"], name="message_seq")]

    def __str__(self) -> str:
        return f"message {self.seq}"


class Block(models.Model):
    """One block of a message. `tokens` is the exact count of its body, `estimate` what it is taken to cost in a prompt."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="blocks", db_index=False)
    seq = models.IntegerField()
    i = models.IntegerField()
    kind = models.CharField(max_length=12)
    body = models.ForeignKey(Body, on_delete=models.PROTECT, related_name="blocks", db_index=False)
    state = models.CharField(max_length=10, default="whole")
    tokens = models.IntegerField(null=True)
    exact = models.BooleanField(default=True)
    estimate = models.IntegerField(null=True)
    chars = models.IntegerField(default=0)
    tool_id = models.TextField(blank=True)
    tool_name = models.TextField(blank=True)
    path = models.TextField(blank=True)
    pointer = models.TextField(blank=True)
    media_type = models.TextField(blank=True)
    media_bytes = models.BigIntegerField(null=True)
    signature_chars = models.IntegerField(default=0)
    is_error = models.BooleanField(default=False)
    excerpt = models.CharField(max_length=200, blank=True)
    flags = models.CharField(max_length=200, blank=True)
    first_call = models.IntegerField(null=True)
    last_call = models.IntegerField(null=True)
    end = models.CharField(max_length=12, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["revision", "seq", "i"], name="block_place")]
        indexes = [
            models.Index(fields=["body", "revision"], name="block_body"),
            models.Index(fields=["revision", "tool_name"], name="block_tool", condition=~models.Q(tool_name="")),
            models.Index(fields=["revision", "path"], name="block_path", condition=~models.Q(path="")),
        ]

    def __str__(self) -> str:
        return f"block {self.seq}.{self.i}"


class ModelCall(models.Model):
    """One model call: what the provider reported, what the view explains, and how the view is composed.

    `inherited` calls were copied from another session and count there; `copied` says that another imported file told so.
    `kinds` is the estimate of its view by block kind, in the order of `compaction.messages.BLOCK_KINDS`.
    """

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="calls", db_index=False)
    n = models.IntegerField()
    seq = models.IntegerField(null=True)
    line = models.BigIntegerField()
    native_id = models.TextField(blank=True)
    model = models.TextField(blank=True)
    at = models.DateTimeField(null=True)
    previous = models.IntegerField(null=True)
    abandoned = models.BooleanField(default=False)
    inherited = models.BooleanField(default=False)
    copied = models.BooleanField(default=False)
    input_tokens = models.BigIntegerField(null=True)
    cache_write_tokens = models.BigIntegerField(null=True)
    cache_read_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    output_reliable = models.BooleanField(default=True)
    cache_ttl_seconds = models.IntegerField(null=True)
    prompt_tokens = models.BigIntegerField(null=True)
    context_window = models.IntegerField(null=True)
    estimate = models.BigIntegerField(null=True)
    block_count = models.IntegerField(default=0)
    kinds = models.JSONField(default=list)
    fidelity = models.CharField(max_length=8, default="derived")
    unexplained = models.BigIntegerField(null=True)
    epoch_anchor = models.IntegerField(null=True)
    producer_version = models.TextField(blank=True)
    flags = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["revision", "n"], name="call_number")]
        indexes = [models.Index(fields=["native_id"], name="call_native_id")]

    def __str__(self) -> str:
        return f"call {self.n}"


class Finding(models.Model):
    """Something that a reader must be told: an orphan, a skipped part, an impossible figure. Ids and sizes only."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="finding_rows", db_index=False)
    ordinal = models.IntegerField()
    code = models.CharField(max_length=40)
    line = models.BigIntegerField(null=True)
    seq = models.IntegerField(null=True)
    detail = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["revision", "ordinal"], name="finding_ordinal")]

    def __str__(self) -> str:
        return self.code
