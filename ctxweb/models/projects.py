"""Projects: whose sessions, roots and audit these are. On one's own machine there is one, `local`."""

from __future__ import annotations

from django.db import models

LOCAL = "local"


class Project(models.Model):
    """A project. Its id is a word, which audit entries and bundles name.

    `transcript_roots` and `artifact_roots` are folders of this machine, as absolute paths, below which sources are looked up;
    `manifest_keys` are Ed25519 public keys in hex that may sign the manifests of its artifact sets;
    `verify_minutes` says how often all its sources are verified again, None for never; `prefix_summaries` whether summaries may send
    a session's own system prompt, tools and history as they were, so that a provider can reuse its prefix cache.
    """

    id = models.CharField(primary_key=True, max_length=40, default=LOCAL)
    name = models.CharField(max_length=200)
    transcript_roots = models.JSONField(default=list)
    artifact_roots = models.JSONField(default=list)
    manifest_keys = models.JSONField(default=list)
    verify_minutes = models.IntegerField(null=True)
    prefix_summaries = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"project {self.id}"
