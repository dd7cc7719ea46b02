"""`manage.py import_sessions PATH... [--json]`: imports files, folders and stdin in the foreground (docs/importing.md)."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ctxweb.models import Job, Session
from ctxweb.services.database_prepare import database_prepare
from ctxweb.services.durable_import import is_durable_file
from ctxweb.services.session_import import ImportResult, session_import

STDIN = "-"


class Command(BaseCommand):
    help = "Import agent sessions from files, folders (with all below them) or - (stdin). Formats are recognised by content."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder, or - for stdin")
        parser.add_argument("--json", action="store_true", help="print one JSON object a lane on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        database_prepare()
        progress = _Progress(sys.stderr.isatty())
        told, failed = list[dict[str, Any]](), False
        for name in _sources(options["paths"]):
            progress.begin(name)
            result = _import(name, progress)
            told += result.objects()  # now: a later file may be the same session, grown, and then takes its place
            failed = failed or result.failed
        progress.end()
        _settle_parents(told)
        for each in told:
            self.stdout.write(json.dumps(each, ensure_ascii=False) if options["json"] else _sentence(each))
        if failed:
            sys.exit(1)


def _sources(paths: list[str]) -> Iterator[str]:
    """The given paths, folders replaced by the files below them in the order of their names."""
    for path in paths:
        if path == STDIN or not os.path.isdir(path):
            yield path
            continue
        found = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if not is_durable_file(name)]
        files = [file for file in sorted(found) if os.path.isfile(file)]
        if not files:
            raise CommandError(f"{path} holds no file: name a folder with session files in it.")
        yield from files


def _import(name: str, progress: _Progress) -> ImportResult:
    if name == STDIN:
        return session_import(name=name, stream=sys.stdin.buffer, progress=progress.show)
    return session_import(name=name, path=Path(name), progress=progress.show)


def _settle_parents(told: list[dict[str, Any]]) -> None:
    """Name the lanes that others hang on as they are known at the end: a parent may lie in a later file."""
    parents = dict(Session.objects.filter(parent__isnull=False).values_list("public_id", "parent__public_id"))
    for each in told:
        if "parent" in each:
            each["parent"] = parents.get(each["session"])


def _sentence(told: dict[str, Any]) -> str:
    if told["status"] == "failed":
        return f"failed     {_plain(told['source'])}: {told['error']['message']}"
    counts = f"{told['records']} records, {told['model_calls']} model calls, {len(told['compactions'])} compactions"
    return f"{told['status']:10} {told['session']} {told['format']} {told['lane']}: {counts} ({_plain(told['source'])})"


def _plain(name: str) -> str:
    """A file's name on a terminal: control characters escaped."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in name)


class _Progress:
    """Progress for people on stderr: one line a source, rewritten in place on a terminal."""

    def __init__(self, is_terminal: bool) -> None:
        self._is_terminal = is_terminal
        self._name = ""
        self._stage = ""

    def begin(self, name: str) -> None:
        self._name, self._stage = _plain(name), ""
        self._say("storing")

    def show(self, job: Job) -> None:
        share = f" {100 * job.done // job.total} %" if job.total else ""
        if self._is_terminal or job.stage != self._stage:
            self._stage = job.stage
            self._say(f"{job.stage}{share}")

    def end(self) -> None:
        if self._is_terminal:
            sys.stderr.write("\n")

    def _say(self, what: str) -> None:
        line = f"{self._name}: {what}"
        sys.stderr.write(f"\r\x1b[K{line}" if self._is_terminal else f"{line}\n")
        sys.stderr.flush()
