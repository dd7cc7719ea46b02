"""The tables of ctxweb, and the full-text index over bodies that each database has in its own way."""

import django.db.models.deletion
from django.db import migrations, models

BODY_WORDS = {
    "sqlite": ("CREATE VIRTUAL TABLE ctxweb_body_words USING fts5(words, content='', tokenize='unicode61')",),
    "postgresql": (
        "CREATE TABLE ctxweb_body_words ("
        "body_id bigint NOT NULL, "
        "part integer NOT NULL, words tsvector NOT NULL, PRIMARY KEY (body_id, part))",
        "CREATE INDEX ctxweb_body_words_gin ON ctxweb_body_words USING gin (words)",
    ),
}


def create_body_words(apps, schema_editor):
    for statement in BODY_WORDS[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


def drop_body_words(apps, schema_editor):
    schema_editor.execute("DROP TABLE ctxweb_body_words")


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Body",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.BinaryField(max_length=16, unique=True)),
                ("text", models.TextField()),
                ("chars", models.IntegerField()),
                ("utf16", models.IntegerField(null=True)),
                ("utf8", models.IntegerField(null=True)),
                ("json", models.IntegerField(null=True)),
                ("repr", models.IntegerField(null=True)),
                ("object_json", models.IntegerField(null=True)),
                ("object_repr", models.IntegerField(null=True)),
                ("object_compact", models.IntegerField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="History",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(max_length=40)),
                ("origin", models.CharField(max_length=10)),
                ("policy", models.CharField(blank=True, max_length=60)),
                ("bins", models.JSONField(default=dict)),
                ("policy_data", models.JSONField(default=dict)),
                ("settings", models.JSONField(default=dict)),
                ("unit", models.CharField(blank=True, max_length=20)),
                ("report", models.JSONField(default=dict)),
                ("pinned", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="Revision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[("importing", "Importing"), ("ready", "Ready"), ("superseded", "Superseded"), ("discarded", "Discarded")],
                        default="importing",
                        max_length=12,
                    ),
                ),
                ("records", models.JSONField(default=list)),
                ("facts", models.JSONField(default=dict)),
                ("figures", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="Compaction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ordinal", models.IntegerField()),
                ("index", models.IntegerField(null=True)),
                ("before_call", models.IntegerField(null=True)),
                ("line", models.BigIntegerField()),
                ("origin", models.CharField(max_length=10)),
                ("mechanism", models.CharField(max_length=24)),
                ("layer", models.CharField(max_length=40)),
                ("trigger", models.CharField(max_length=16)),
                ("status", models.CharField(max_length=10)),
                ("scale", models.CharField(default="prompt", max_length=10)),
                ("native_id", models.TextField(blank=True)),
                ("at", models.DateTimeField(null=True)),
                ("detached", models.BooleanField(default=False)),
                ("tokens_before", models.BigIntegerField(null=True)),
                ("tokens_after", models.BigIntegerField(null=True)),
                ("reported_before", models.BigIntegerField(null=True)),
                ("reported_after", models.BigIntegerField(null=True)),
                ("estimate_before", models.BigIntegerField(default=0)),
                ("removed", models.BigIntegerField(default=0)),
                ("added", models.BigIntegerField(default=0)),
                ("estimate_after", models.BigIntegerField(default=0)),
                ("entered", models.BigIntegerField(default=0)),
                ("unexplained_before", models.BigIntegerField(null=True)),
                ("unexplained_after", models.BigIntegerField(null=True)),
                ("edits", models.IntegerField(default=0)),
                ("never_sent", models.IntegerField(default=0)),
                ("own_before", models.BigIntegerField(null=True)),
                ("own_after", models.BigIntegerField(null=True)),
                ("exact_before", models.BigIntegerField(null=True)),
                ("exact_after", models.BigIntegerField(null=True)),
                ("reports", models.JSONField(default=list)),
                ("evidence", models.JSONField(default=dict)),
                ("flags", models.CharField(blank=True, max_length=200)),
                (
                    "history",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="compactions", to="ctxweb.history"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AddedBlock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.IntegerField()),
                ("i", models.IntegerField()),
                ("role", models.CharField(max_length=12)),
                ("origin", models.CharField(max_length=12)),
                ("kind", models.CharField(max_length=12)),
                ("tokens", models.IntegerField(null=True)),
                ("estimate", models.IntegerField(default=0)),
                ("chars", models.IntegerField(default=0)),
                ("tool_id", models.TextField(blank=True)),
                ("tool_name", models.TextField(blank=True)),
                ("path", models.TextField(blank=True)),
                ("excerpt", models.CharField(blank=True, max_length=200)),
                (
                    "body",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="added", to="ctxweb.body"),
                ),
                (
                    "history",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="added", to="ctxweb.history"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(max_length=40, unique=True)),
                ("kind", models.CharField(max_length=30)),
                ("key", models.CharField(max_length=64, unique=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("leased", "Leased"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                            ("abandoned", "Abandoned"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("stage", models.CharField(blank=True, max_length=12)),
                ("params", models.JSONField(default=dict)),
                ("cursor", models.JSONField(default=dict)),
                ("attempt", models.IntegerField(default=0)),
                ("fruitless", models.IntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=80)),
                ("lease_until", models.DateTimeField(null=True)),
                ("run_after", models.DateTimeField(null=True)),
                ("cancel_requested", models.BooleanField(default=False)),
                ("done", models.BigIntegerField(default=0)),
                ("total", models.BigIntegerField(null=True)),
                ("unit", models.CharField(default="bytes", max_length=12)),
                ("version", models.IntegerField(default=0)),
                ("error", models.JSONField(null=True)),
                ("result", models.JSONField(null=True)),
                ("log", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["state", "lease_until"], name="job_state")],
            },
        ),
        migrations.CreateModel(
            name="LedgerEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ordinal", models.IntegerField()),
                ("verb", models.CharField(max_length=10)),
                ("layer", models.CharField(max_length=40)),
                ("seq", models.IntegerField()),
                ("i", models.IntegerField()),
                ("adds", models.BooleanField(default=False)),
                ("state_before", models.CharField(blank=True, max_length=10)),
                ("state_after", models.CharField(blank=True, max_length=10)),
                ("tokens_before", models.IntegerField(default=0)),
                ("tokens_after", models.IntegerField(default=0)),
                ("own_before", models.IntegerField(null=True)),
                ("own_after", models.IntegerField(null=True)),
                ("exact_before", models.IntegerField(null=True)),
                ("exact_after", models.IntegerField(null=True)),
                ("pointer", models.CharField(blank=True, max_length=200)),
                ("never_sent", models.BooleanField(default=False)),
                ("body_after", models.BinaryField(max_length=16, null=True)),
                (
                    "compaction",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="entries", to="ctxweb.compaction"
                    ),
                ),
                (
                    "history",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="entries", to="ctxweb.history"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ModelCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("n", models.IntegerField()),
                ("seq", models.IntegerField(null=True)),
                ("line", models.BigIntegerField()),
                ("native_id", models.TextField(blank=True)),
                ("model", models.TextField(blank=True)),
                ("at", models.DateTimeField(null=True)),
                ("previous", models.IntegerField(null=True)),
                ("abandoned", models.BooleanField(default=False)),
                ("inherited", models.BooleanField(default=False)),
                ("copied", models.BooleanField(default=False)),
                ("input_tokens", models.BigIntegerField(null=True)),
                ("cache_write_tokens", models.BigIntegerField(null=True)),
                ("cache_read_tokens", models.BigIntegerField(null=True)),
                ("output_tokens", models.BigIntegerField(null=True)),
                ("output_reliable", models.BooleanField(default=True)),
                ("cache_ttl_seconds", models.IntegerField(null=True)),
                ("prompt_tokens", models.BigIntegerField(null=True)),
                ("context_window", models.IntegerField(null=True)),
                ("estimate", models.BigIntegerField(null=True)),
                ("block_count", models.IntegerField(default=0)),
                ("kinds", models.JSONField(default=list)),
                ("fidelity", models.CharField(default="derived", max_length=8)),
                ("unexplained", models.BigIntegerField(null=True)),
                ("epoch_anchor", models.IntegerField(null=True)),
                ("producer_version", models.TextField(blank=True)),
                ("flags", models.CharField(blank=True, max_length=200)),
                (
                    "revision",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="calls", to="ctxweb.revision"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.IntegerField()),
                ("role", models.CharField(max_length=12)),
                ("origin", models.CharField(max_length=12)),
                ("line", models.BigIntegerField()),
                ("record", models.BigIntegerField()),
                ("records", models.IntegerField(default=1)),
                ("native_id", models.TextField(blank=True)),
                ("at", models.DateTimeField(null=True)),
                ("model", models.TextField(blank=True)),
                ("call", models.IntegerField(null=True)),
                ("label", models.TextField(blank=True)),
                ("visible", models.CharField(default="yes", max_length=8)),
                ("inherited", models.BooleanField(default=False)),
                ("abandoned", models.BooleanField(default=False)),
                ("flags", models.CharField(blank=True, max_length=200)),
                (
                    "revision",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="messages", to="ctxweb.revision"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="history",
            name="revision",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="histories", to="ctxweb.revision"
            ),
        ),
        migrations.CreateModel(
            name="Finding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ordinal", models.IntegerField()),
                ("code", models.CharField(max_length=40)),
                ("line", models.BigIntegerField(null=True)),
                ("seq", models.IntegerField(null=True)),
                ("detail", models.TextField(blank=True)),
                (
                    "revision",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="finding_rows", to="ctxweb.revision"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Block",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.IntegerField()),
                ("i", models.IntegerField()),
                ("kind", models.CharField(max_length=12)),
                ("state", models.CharField(default="whole", max_length=10)),
                ("tokens", models.IntegerField(null=True)),
                ("exact", models.BooleanField(default=True)),
                ("estimate", models.IntegerField(null=True)),
                ("chars", models.IntegerField(default=0)),
                ("tool_id", models.TextField(blank=True)),
                ("tool_name", models.TextField(blank=True)),
                ("path", models.TextField(blank=True)),
                ("pointer", models.TextField(blank=True)),
                ("media_type", models.TextField(blank=True)),
                ("media_bytes", models.BigIntegerField(null=True)),
                ("signature_chars", models.IntegerField(default=0)),
                ("is_error", models.BooleanField(default=False)),
                ("excerpt", models.CharField(blank=True, max_length=200)),
                ("flags", models.CharField(blank=True, max_length=200)),
                ("first_call", models.IntegerField(null=True)),
                ("last_call", models.IntegerField(null=True)),
                ("end", models.CharField(blank=True, max_length=12)),
                (
                    "body",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="blocks", to="ctxweb.body"),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="blocks", to="ctxweb.revision"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(max_length=40, unique=True)),
                ("native_id", models.TextField(blank=True, db_index=True)),
                ("format", models.CharField(max_length=40)),
                ("lane", models.CharField(max_length=12)),
                ("parent_native_id", models.TextField(blank=True, db_index=True)),
                ("parent_tool_id", models.TextField(blank=True)),
                ("continues", models.TextField(blank=True)),
                ("title", models.TextField(blank=True)),
                ("cwd", models.TextField(blank=True, db_index=True)),
                ("git_branch", models.TextField(blank=True)),
                ("model", models.TextField(blank=True)),
                ("producer", models.TextField(blank=True)),
                ("producer_version", models.TextField(blank=True)),
                ("context_window", models.IntegerField(null=True)),
                ("encoding", models.CharField(blank=True, max_length=20)),
                ("started_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(db_index=True, null=True)),
                ("record_count", models.BigIntegerField(default=0)),
                ("verdicts", models.JSONField(default=dict)),
                ("messages_logged", models.IntegerField(default=0)),
                ("message_count", models.IntegerField(default=0)),
                ("block_count", models.IntegerField(default=0)),
                ("call_count", models.IntegerField(default=0)),
                ("tool_calls", models.IntegerField(default=0)),
                ("tool_results", models.IntegerField(default=0)),
                ("images", models.IntegerField(default=0)),
                ("input_tokens", models.BigIntegerField(null=True)),
                ("cache_write_tokens", models.BigIntegerField(null=True)),
                ("cache_read_tokens", models.BigIntegerField(null=True)),
                ("output_tokens", models.BigIntegerField(null=True)),
                ("usage_flags", models.JSONField(default=list)),
                ("peak_context", models.BigIntegerField(null=True)),
                ("recorded_compactions", models.IntegerField(default=0)),
                ("inferred_drops", models.IntegerField(default=0)),
                ("removed_blocks", models.IntegerField(default=0)),
                ("findings", models.IntegerField(default=0)),
                ("spark", models.JSONField(default=dict)),
                ("imported_at", models.DateTimeField(auto_now=True)),
                (
                    "current",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="ctxweb.revision"),
                ),
                (
                    "parent",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="lanes", to="ctxweb.session"),
                ),
            ],
        ),
        migrations.AddField(
            model_name="revision",
            name="session",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="revisions", to="ctxweb.session"),
        ),
        migrations.CreateModel(
            name="Source",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.CharField(max_length=64)),
                ("stream_sha256", models.CharField(blank=True, db_index=True, max_length=64)),
                ("opening", models.CharField(blank=True, db_index=True, max_length=64)),
                ("size", models.BigIntegerField()),
                ("stream_size", models.BigIntegerField(null=True)),
                ("name", models.TextField()),
                ("format", models.CharField(blank=True, max_length=40)),
                ("layout", models.CharField(blank=True, max_length=16)),
                ("member", models.TextField(blank=True)),
                (
                    "state",
                    models.CharField(
                        choices=[("importing", "Importing"), ("ready", "Ready"), ("failed", "Failed")], default="importing", max_length=12
                    ),
                ),
                ("record_count", models.BigIntegerField(default=0)),
                ("verdicts", models.JSONField(default=dict)),
                ("unknown_types", models.JSONField(default=dict)),
                ("flag_counts", models.JSONField(default=dict)),
                ("error", models.JSONField(null=True)),
                ("imported_at", models.DateTimeField(auto_now_add=True)),
                (
                    "superseded_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="superseded", to="ctxweb.source"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="revision",
            name="source",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="revisions", to="ctxweb.source"),
        ),
        migrations.CreateModel(
            name="Record",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.BigIntegerField()),
                ("line", models.BigIntegerField()),
                ("offset", models.BigIntegerField()),
                ("length", models.BigIntegerField()),
                ("digest", models.BinaryField(max_length=32)),
                ("verdict", models.CharField(max_length=20)),
                ("type", models.CharField(blank=True, max_length=80)),
                ("flags", models.CharField(blank=True, max_length=200)),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="records", to="ctxweb.source"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Span",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.IntegerField()),
                ("i", models.IntegerField()),
                ("state", models.CharField(max_length=10)),
                ("from_call", models.IntegerField()),
                ("to_call", models.IntegerField(default=2000000000)),
                ("position", models.FloatField()),
                ("estimate", models.IntegerField()),
                ("tokens", models.IntegerField(null=True)),
                ("body", models.BinaryField(max_length=16, null=True)),
                (
                    "history",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="spans", to="ctxweb.history"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="TokenCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("encoding", models.CharField(max_length=20)),
                ("tokens", models.IntegerField()),
                ("exact", models.BooleanField(default=True)),
                (
                    "body",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="counts", to="ctxweb.body"),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="compaction",
            constraint=models.UniqueConstraint(fields=("history", "ordinal"), name="compaction_ordinal"),
        ),
        migrations.AddIndex(
            model_name="addedblock",
            index=models.Index(fields=["body"], name="added_body"),
        ),
        migrations.AddConstraint(
            model_name="addedblock",
            constraint=models.UniqueConstraint(fields=("history", "seq", "i"), name="added_place"),
        ),
        migrations.AddIndex(
            model_name="ledgerentry",
            index=models.Index(fields=["history", "seq", "i"], name="entry_block"),
        ),
        migrations.AddIndex(
            model_name="ledgerentry",
            index=models.Index(fields=["compaction", "ordinal"], name="entry_compaction"),
        ),
        migrations.AddConstraint(
            model_name="ledgerentry",
            constraint=models.UniqueConstraint(fields=("history", "ordinal"), name="entry_ordinal"),
        ),
        migrations.AddIndex(
            model_name="modelcall",
            index=models.Index(fields=["native_id"], name="call_native_id"),
        ),
        migrations.AddConstraint(
            model_name="modelcall",
            constraint=models.UniqueConstraint(fields=("revision", "n"), name="call_number"),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.UniqueConstraint(fields=("revision", "seq"), name="message_seq"),
        ),
        migrations.AddIndex(
            model_name="history",
            index=models.Index(fields=["public_id"], name="history_public_id"),
        ),
        migrations.AddConstraint(
            model_name="history",
            constraint=models.UniqueConstraint(fields=("revision", "public_id"), name="history_of_revision"),
        ),
        migrations.AddConstraint(
            model_name="finding",
            constraint=models.UniqueConstraint(fields=("revision", "ordinal"), name="finding_ordinal"),
        ),
        migrations.AddIndex(
            model_name="block",
            index=models.Index(fields=["body", "revision"], name="block_body"),
        ),
        migrations.AddIndex(
            model_name="block",
            index=models.Index(condition=models.Q(("tool_name", ""), _negated=True), fields=["revision", "tool_name"], name="block_tool"),
        ),
        migrations.AddIndex(
            model_name="block",
            index=models.Index(condition=models.Q(("path", ""), _negated=True), fields=["revision", "path"], name="block_path"),
        ),
        migrations.AddConstraint(
            model_name="block",
            constraint=models.UniqueConstraint(fields=("revision", "seq", "i"), name="block_place"),
        ),
        migrations.AddConstraint(
            model_name="source",
            constraint=models.UniqueConstraint(fields=("sha256", "member"), name="source_bytes"),
        ),
        migrations.AddIndex(
            model_name="record",
            index=models.Index(fields=["source", "verdict", "number"], name="record_verdict"),
        ),
        migrations.AddConstraint(
            model_name="record",
            constraint=models.UniqueConstraint(fields=("source", "number"), name="record_number"),
        ),
        migrations.AddIndex(
            model_name="span",
            index=models.Index(fields=["history", "to_call", "from_call"], name="span_calls"),
        ),
        migrations.AddIndex(
            model_name="span",
            index=models.Index(fields=["history", "seq", "i"], name="span_block"),
        ),
        migrations.AddConstraint(
            model_name="tokencount",
            constraint=models.UniqueConstraint(fields=("body", "encoding"), name="body_encoding"),
        ),
        migrations.RunPython(create_body_words, drop_body_words),
    ]
