"""Summaries, the model calls that they cost, the breaker of a model, and kept analyses of checkpoints."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ctxweb", "0002_durable_audit"),
    ]

    operations = [
        migrations.AlterField(
            model_name="job",
            name="stage",
            field=models.CharField(blank=True, max_length=24),
        ),
        migrations.AddField(
            model_name="project",
            name="prefix_summaries",
            field=models.BooleanField(default=False),
        ),
        migrations.CreateModel(
            name="CheckpointAnalysis",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("session", models.CharField(max_length=40)),
                ("subject", models.CharField(max_length=100)),
                ("kind", models.CharField(max_length=20)),
                ("inputs", models.CharField(max_length=64)),
                ("data", models.JSONField()),
                ("made_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("session", "subject", "kind"), name="analysis_subject")],
            },
        ),
        migrations.CreateModel(
            name="Breaker",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("summarizer", models.CharField(max_length=40)),
                ("model", models.CharField(max_length=200)),
                ("failures", models.IntegerField(default=0)),
                ("open_until", models.DateTimeField(null=True)),
                ("probing_until", models.DateTimeField(null=True)),
                ("last_code", models.CharField(blank=True, max_length=40)),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="breakers", to="ctxweb.project"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "summarizer", "model"), name="breaker_model")],
            },
        ),
        migrations.CreateModel(
            name="Summary",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(max_length=40, unique=True)),
                ("session", models.CharField(max_length=40)),
                ("attempt", models.IntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("kept", "Kept"), ("refused", "Refused"), ("superseded", "Superseded"), ("trial", "Trial")], max_length=10
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=40)),
                ("trigger", models.CharField(max_length=16)),
                ("summarizer", models.CharField(max_length=40)),
                ("model", models.CharField(blank=True, max_length=200)),
                ("shape", models.CharField(blank=True, max_length=10)),
                ("prompt_version", models.CharField(max_length=20)),
                ("params", models.JSONField(default=dict)),
                ("from_call", models.IntegerField()),
                ("to_call", models.IntegerField()),
                ("blocks", models.JSONField(default=list)),
                ("first_pointer", models.CharField(max_length=200)),
                ("last_pointer", models.CharField(max_length=200)),
                ("range_sha256", models.CharField(max_length=64)),
                ("view_sha256", models.CharField(max_length=64)),
                ("tokens", models.IntegerField()),
                ("range_tokens", models.IntegerField()),
                ("view_before", models.IntegerField()),
                ("view_after", models.IntegerField()),
                ("parent_place", models.CharField(blank=True, max_length=40)),
                ("objections", models.JSONField(default=list)),
                ("canaries", models.JSONField(default=list)),
                ("at", models.DateTimeField()),
                ("body", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="summaries", to="ctxweb.body")),
                (
                    "job",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="summaries", to="ctxweb.job"),
                ),
                (
                    "parent",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="children", to="ctxweb.summary"),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="summaries", to="ctxweb.project"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["session", "to_call"], name="summary_session")],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("state__in", ("kept", "trial"))), fields=("job",), name="summary_of_job")
                ],
            },
        ),
        migrations.CreateModel(
            name="SummaryCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("session", models.CharField(max_length=40)),
                ("number", models.IntegerField()),
                ("attempt", models.IntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("reserved", "Reserved"), ("answered", "Answered"), ("failed", "Failed"), ("lost", "Lost")],
                        default="reserved",
                        max_length=10,
                    ),
                ),
                ("summarizer", models.CharField(max_length=40)),
                ("model", models.CharField(max_length=200)),
                ("shape", models.CharField(max_length=10)),
                ("input_tokens", models.IntegerField()),
                ("input_exact", models.BooleanField(default=False)),
                ("most_output_tokens", models.IntegerField()),
                ("reserved_nano", models.BigIntegerField(null=True)),
                ("cost_nano", models.BigIntegerField(null=True)),
                ("usage", models.JSONField(default=dict)),
                ("code", models.CharField(blank=True, max_length=40)),
                ("status", models.IntegerField(null=True)),
                ("message", models.TextField(blank=True)),
                ("retry_after", models.FloatField(null=True)),
                ("request_id", models.CharField(blank=True, max_length=200)),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("job", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="calls", to="ctxweb.job")),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="summary_calls", to="ctxweb.project"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "started_at"], name="summary_call_at"),
                    models.Index(fields=["session"], name="summary_call_session"),
                ],
                "constraints": [models.UniqueConstraint(fields=("job", "number"), name="summary_call_number")],
            },
        ),
    ]
