"""`manage.py project [ID] [--transcripts DIR...] [--artifacts DIR...] [--manifest-keys HEX...] [--verify-minutes N] …`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ctxweb.models import LOCAL, Project
from ctxweb.services.database_prepare import database_prepare
from ctxweb.services.project_configure import ProjectRefused, project_configure


class Command(BaseCommand):
    help = "Show a project, after setting what is given: where its sources lie, who may sign manifests, how often sources are verified."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", nargs="?", default=LOCAL, metavar="ID", help="id of the project (default: %(default)s)")
        parser.add_argument("--transcripts", nargs="*", metavar="DIR", help="folders with SESSION.jsonl; without any: none")
        parser.add_argument("--artifacts", nargs="*", metavar="DIR", help="folders with SESSION/FILE; without any: none")
        parser.add_argument("--manifest-keys", nargs="*", metavar="HEX", help="Ed25519 public keys; without any: none")
        parser.add_argument("--verify-minutes", type=int, metavar="N", help="verify all sources every N minutes; 0: never")
        parser.add_argument(
            "--prefix-summaries", choices=("on", "off"), help="whether a summary may send a session's own system prompt, tools and history"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        database_prepare()
        project = Project.objects.filter(pk=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        try:
            project_configure(
                project=project,
                transcript_roots=options["transcripts"],
                artifact_roots=options["artifacts"],
                manifest_keys=options["manifest_keys"],
                verify_minutes=options["verify_minutes"],
                prefix_summaries=None if options["prefix_summaries"] is None else options["prefix_summaries"] == "on",
            )
        except ProjectRefused as error:
            raise CommandError(str(error)) from error
        names = ("id", "name", "transcript_roots", "artifact_roots", "manifest_keys", "verify_minutes", "prefix_summaries")
        shown = {name: getattr(project, name) for name in names}
        self.stdout.write(json.dumps(shown, indent=1))
