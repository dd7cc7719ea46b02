"""`manage.py fidelity [SESSION...] [--json]`: how well the reconstructed views explain the reported usage (docs/importing.md)."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ctxweb.queries.fidelity import SessionFidelity, fidelity_of_sessions, spread_json, unknown_sessions
from ctxweb.services.database_prepare import database_prepare

ERRORS = ("step", "epoch", "growth")


class Command(BaseCommand):
    help = "Say how well the reconstructed views explain the reported usage: errors in percent, median / 95th percentile."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("sessions", nargs="*", metavar="SESSION", help="public id of a session; all sessions when none is given")
        parser.add_argument("--json", action="store_true", help="print one JSON object a session on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        database_prepare()
        unknown = unknown_sessions(public_ids=options["sessions"])
        if unknown:
            raise CommandError(f"There is no session {', '.join(unknown)}: import it first, or take the id from the sessions page.")
        found = []
        for fidelity in fidelity_of_sessions(public_ids=options["sessions"]):
            found.append(fidelity)
            self.stdout.write(json.dumps(fidelity.as_json()) if options["json"] else _line(fidelity))
        if not options["json"]:
            self.stdout.write(_pooled(found))


def _line(fidelity: SessionFidelity) -> str:
    report = fidelity.report
    errors = " ".join(f"{name} {_spread(getattr(report, f'{name}_errors'))}" for name in ERRORS)
    events = f"drops {report.drops} rises {report.rises} recorded {report.recorded_found}/{report.recorded_drops}"
    return f"{fidelity.session.public_id} calls {report.calls} {errors} {events} cache {report.cache.exact}/{report.cache.calls}"


def _pooled(found: Iterable[SessionFidelity]) -> str:
    """The errors of all calls of all sessions together."""
    reports = [fidelity.report for fidelity in found]
    errors = " ".join(f"{name} {_spread([error for report in reports for error in getattr(report, f'{name}_errors')])}" for name in ERRORS)
    return f"all {len(reports)} sessions: calls {sum(report.calls for report in reports)} {errors}"


def _spread(errors: Iterable[float]) -> str:
    spread = spread_json(tuple(errors))
    return " / ".join("–" if figure is None else f"{figure:.2f} %" for figure in spread.values())
