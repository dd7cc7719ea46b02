"""`manage.py verify_audit [PROJECT...] [--json]`: whether the audit is what was written, and where it is not."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ctxweb.models import Project
from ctxweb.queries.audit_chain import ChainState, audit_chain
from ctxweb.queries.durable_chain import VersionsState, versions_state
from ctxweb.services.database_prepare import database_prepare


class Command(BaseCommand):
    help = (
        "Check the hash chain of the audit with its key, head, anchors and sign-offs, and the versions of durable states. "
        "Exits with 1 where they do not hold."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("projects", nargs="*", metavar="PROJECT", help="ids of projects; all when none is given")
        parser.add_argument("--json", action="store_true", help="print one JSON object a project on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        database_prepare()
        known = list(Project.objects.order_by("pk").values_list("pk", flat=True))
        unknown = sorted(set(options["projects"]) - set(known))
        if unknown:
            raise CommandError(f"There is no project {', '.join(unknown)}: known are {', '.join(known)}.")
        checked = [(audit_chain(project_id=one), versions_state(project_id=one)) for one in options["projects"] or known]
        for state, versions in checked:
            told = {**asdict(state), "versions": asdict(versions)}
            self.stdout.write(json.dumps(told) if options["json"] else f"{_sentences(state)}\n{_of_versions(versions)}")
        if not all(state.holds and versions.holds for state, versions in checked):
            sys.exit(1)


def _of_versions(versions: VersionsState) -> str:
    verdict = "hold" if versions.holds else "DO NOT HOLD"
    lines = [f"  {versions.count:,} versions of durable states {verdict}"]
    return "\n".join([*lines, *(f"  version {one.number} of {one.session}: {one.says}" for one in versions.breaks)])


def _sentences(state: ChainState) -> str:
    verdict = "holds" if state.holds else "DOES NOT HOLD"
    lines = [f"{state.project}: the audit {verdict}: {state.count:,} entries, head {state.head}", _anchored(state)]
    lines += [f"  {one.kind} at entry {one.first}{f' to {one.last}' if one.last != one.first else ''}: {one.says}" for one in state.breaks]
    return "\n".join(lines)


def _anchored(state: ChainState) -> str:
    if state.anchored_to is None:
        return "  no anchor vouches for it"
    rest = state.count - state.anchored_to
    return f"  anchors vouch for entries up to {state.anchored_to:,}" + (f", not for the last {rest:,}" if rest > 0 else "")
