"""`manage.py export_session ID [--out FILE] [--lanes]`: writes a session as a message list, which can be imported again."""

from __future__ import annotations

import io
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ctxweb.models import Session
from ctxweb.services.database_prepare import database_prepare
from ctxweb.services.session_export import ExportFailed, session_export


class Command(BaseCommand):
    help = "Write a session as a message list (docs/message_list.md) on stdout or to a file."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("session", metavar="ID", help="public id of the session")
        parser.add_argument("--out", type=Path, metavar="FILE", help="write to this file, which must not be there yet")
        parser.add_argument("--lanes", action="store_true", help="also write the lanes that hang on the session: subagents and forks")

    def handle(self, *args: Any, **options: Any) -> None:
        database_prepare()
        session = Session.objects.filter(public_id=options["session"]).select_related("current__source").first()
        if session is None:
            raise CommandError(f"There is no session {options['session']!r}: take the id from the sessions page or from import_sessions.")
        try:
            if options["out"] is None:
                if isinstance(sys.stdout, io.TextIOWrapper):
                    sys.stdout.reconfigure(encoding="utf-8")  # whatever the locale: the format is UTF-8
                session_export(session=session, out=self.stdout, with_lanes=options["lanes"])
            else:
                self._to_file(session, options["out"], options["lanes"])
        except ExportFailed as error:
            raise CommandError(str(error)) from error

    def _to_file(self, session: Session, path: Path, with_lanes: bool) -> None:
        """A file is there only once it is whole."""
        if path.exists():
            raise CommandError(f"{path} is there already: name another file, or remove it.")
        part = path.with_name(f"{path.name}.part")
        try:
            with part.open("x", encoding="utf-8", newline="\n") as out:
                lanes = session_export(session=session, out=out, with_lanes=with_lanes)
            os.replace(part, path)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}. Choose another place.") from error
        finally:
            part.unlink(missing_ok=True)
        self.stderr.write(f"{path}: {lanes} {'lane' if lanes == 1 else 'lanes'}")
