"""`manage.py rebuild`: makes every table anew from the raw bytes. No id and no figure changes."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ctxweb.services.database_prepare import database_prepare
from ctxweb.services.rebuild import RebuildBusy, rebuild


class Command(BaseCommand):
    help = "Drop everything that was made from the stored sources, and make it again. Stop the server first. Can be run again after a kill."

    def handle(self, *args: Any, **options: Any) -> None:
        database_prepare()
        try:
            result = rebuild(progress=self.stderr.write)
        except RebuildBusy as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{result.files - len(result.failed)} of {result.files} files imported again")
        if result.failed:
            raise CommandError("\n".join(result.failed))
