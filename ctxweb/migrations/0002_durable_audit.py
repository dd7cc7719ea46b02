"""Projects, durable state and audit, with the triggers that keep what was written."""

import django.db.models.deletion
from django.db import migrations, models

from ctxweb.append_only import triggers_create, triggers_drop


def add_local(apps, schema_editor):
    apps.get_model("ctxweb", "Project").objects.get_or_create(id="local", defaults={"name": "This machine"})


def create_triggers(apps, schema_editor):
    triggers_create(schema_editor.connection)


def drop_triggers(apps, schema_editor):
    triggers_drop(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("ctxweb", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Project",
            fields=[
                ("id", models.CharField(default="local", max_length=40, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=200)),
                ("transcript_roots", models.JSONField(default=list)),
                ("artifact_roots", models.JSONField(default=list)),
                ("manifest_keys", models.JSONField(default=list)),
                ("verify_minutes", models.IntegerField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="AuditHead",
            fields=[
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="audit_head",
                        serialize=False,
                        to="ctxweb.project",
                    ),
                ),
                ("seq", models.BigIntegerField(default=0)),
                ("hash", models.CharField(max_length=64)),
            ],
        ),
        migrations.RunPython(add_local, migrations.RunPython.noop),
        migrations.AddField(
            model_name="session",
            name="project",
            field=models.ForeignKey(
                default="local", on_delete=django.db.models.deletion.PROTECT, related_name="sessions", to="ctxweb.project"
            ),
        ),
        migrations.CreateModel(
            name="DurableProposal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("session", models.CharField(max_length=40)),
                ("number", models.IntegerField()),
                ("kind", models.CharField(max_length=10)),
                ("domain", models.CharField(max_length=20)),
                ("item_id", models.TextField()),
                ("item", models.TextField()),
                ("sha256", models.CharField(max_length=64)),
                ("base", models.IntegerField()),
                ("author", models.CharField(max_length=200)),
                ("origin", models.CharField(max_length=20)),
                ("at", models.DateTimeField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("session", "number"), name="durable_proposal_number")],
            },
        ),
        migrations.CreateModel(
            name="DurableDecision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("accepted", models.BooleanField()),
                ("version", models.IntegerField(null=True)),
                ("author", models.CharField(max_length=200)),
                ("note", models.TextField(blank=True)),
                ("at", models.DateTimeField()),
                (
                    "proposal",
                    models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name="decision", to="ctxweb.durableproposal"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.BigIntegerField()),
                ("pointer", models.TextField()),
                ("status", models.CharField(max_length=12)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("reason", models.CharField(blank=True, max_length=60)),
                ("actor", models.CharField(max_length=200)),
                ("policy_version", models.CharField(max_length=40)),
                ("resolver_version", models.CharField(max_length=40)),
                ("started_at", models.CharField(max_length=32)),
                ("finished_at", models.CharField(max_length=32)),
                ("run", models.CharField(blank=True, max_length=60)),
                ("prev_hash", models.CharField(max_length=64)),
                ("hash", models.CharField(max_length=64)),
                ("mac", models.CharField(max_length=64)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="audit", to="ctxweb.project"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "pointer", "-seq"], name="audit_pointer"),
                    models.Index(fields=["project", "finished_at"], name="audit_finished"),
                ],
                "constraints": [models.UniqueConstraint(fields=("project", "seq"), name="audit_seq")],
            },
        ),
        migrations.CreateModel(
            name="DurableItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("session", models.CharField(max_length=40)),
                ("version", models.IntegerField()),
                ("domain", models.CharField(max_length=20)),
                ("ordinal", models.IntegerField()),
                ("item_id", models.TextField()),
                ("pointer", models.TextField(blank=True)),
                ("status", models.CharField(blank=True, max_length=10)),
                ("confirmed_at", models.CharField(blank=True, max_length=40)),
                ("confirmed_sha256", models.CharField(blank=True, max_length=64)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="durable_items", to="ctxweb.project"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["project", "pointer"], name="durable_item_pointer")],
                "constraints": [models.UniqueConstraint(fields=("session", "domain", "ordinal"), name="durable_item_place")],
            },
        ),
        migrations.CreateModel(
            name="DurableVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("session", models.CharField(max_length=40)),
                ("number", models.IntegerField()),
                ("parent", models.IntegerField(null=True)),
                ("state", models.TextField()),
                ("sha256", models.CharField(max_length=64)),
                ("confirmed", models.TextField(default="{}")),
                ("author", models.CharField(max_length=200)),
                ("reason", models.TextField(blank=True)),
                ("origin", models.CharField(max_length=20)),
                ("at", models.DateTimeField()),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="durable_versions", to="ctxweb.project"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["project", "at"], name="durable_version_at")],
                "constraints": [models.UniqueConstraint(fields=("session", "number"), name="durable_version_number")],
            },
        ),
        migrations.CreateModel(
            name="SignOff",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.BigIntegerField()),
                ("subject", models.CharField(max_length=60)),
                ("name", models.CharField(max_length=200)),
                ("note", models.TextField(blank=True)),
                ("at", models.CharField(max_length=32)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="sign_offs", to="ctxweb.project"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "seq"), name="sign_off_seq")],
            },
        ),
        migrations.RunPython(create_triggers, drop_triggers),
    ]
