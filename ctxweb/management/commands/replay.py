"""`manage.py replay SESSION --policy P [--set trigger=60000] [--json]`: what a policy would have done to a session."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder

from compaction.errors import PolicyError
from compaction.policy_json import policy_to_data
from compaction.replay.report import report_of, written
from ctxweb.models import Session
from ctxweb.policy_files import policy_of_file
from ctxweb.queries.readable import Lane, readable_lane
from ctxweb.queries.replay import Replayed, replayed
from ctxweb.replays.asked import COUNTS, SUMMARIES, USUAL_POLICY, ReplayAsked, ReplayRefused, replay_asked
from ctxweb.services.database_prepare import database_prepare
from ctxweb.services.history_replay import history_replay
from ctxweb.services.replay_again import replay_again

ENDINGS = (".json", ".yaml", ".yml")


class Command(BaseCommand):
    help = "Replay a policy over a session, and say what fires and what each layer takes."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("session", metavar="SESSION", help="public id of the session")
        parser.add_argument("--policy", default=USUAL_POLICY, metavar="P", help="id of a policy, or a JSON or YAML file that holds one")
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", help="a limit: trigger, hard_limit, window, LAYER.FIELD"
        )
        parser.add_argument("--count", default="own", choices=COUNTS, help="count in the policy's own unit, or in exact tokens")
        parser.add_argument("--summaries", default="stub", choices=SUMMARIES, help="whose summaries stand for what a summary takes")
        parser.add_argument("--strict", action="store_true", help="refuse a session whose tool calls and results do not pair")
        parser.add_argument(
            "--report",
            action="store_true",
            help="also the last view, the originals, and a proof",
        )
        parser.add_argument("--keep", action="store_true", help="store the replay as a history")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        database_prepare()
        if not Session.objects.filter(public_id=options["session"], current__isnull=False).exists():
            raise CommandError(f"There is no session {options['session']!r}: take the id from the sessions page or from import_sessions.")
        lane = readable_lane(public_id=options["session"])
        try:
            asked = _asked(options)
            found = replayed(lane=lane, asked=asked, whatever=True)
            lines = list(_report(lane, found, asked)) if options["report"] else []
            kept = _keep(lane, asked) if options["keep"] else None
        except ReplayRefused as refused:
            raise CommandError(f"{refused.field}: {refused}") from refused
        if options["json"]:
            told = {**asdict(found.detail), "report": lines or None, "kept": kept}
            self.stdout.write(json.dumps(told, cls=DjangoJSONEncoder, ensure_ascii=False))
            return
        for line in (*_lines(found), *lines, *((f"kept as {kept}",) if kept else ())):
            self.stdout.write(line)


def _asked(options: dict[str, Any]) -> ReplayAsked:
    limits = {}
    for each in options["set"]:
        name, equals, value = each.partition("=")
        if not equals:
            raise CommandError(f"--set {each}: write NAME=VALUE, as in --set trigger=60000.")
        limits[name.strip()] = value.strip()
    return replay_asked(
        policy=_policy(options["policy"]),
        limits=limits,
        count=options["count"],
        summaries=options["summaries"],
        orphans="strict" if options["strict"] else "keep",
    )


def _policy(given: str) -> Any:
    """The id of a policy, or the policy that a file holds, as data."""
    if not given.lower().endswith(ENDINGS):
        return given
    try:
        return policy_to_data(policy_of_file(Path(given).read_text(encoding="utf-8-sig")))
    except OSError as error:
        raise CommandError(f"{given} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{given} is no text in UTF-8, from byte {error.start:,} on: save it as UTF-8.") from error
    except PolicyError as error:
        place = f"{error.field}: " if error.field and not str(error).startswith(error.field) else ""
        raise CommandError(f"{given}: {place}{error}.") from error


def _report(lane: Lane, found: Replayed, asked: ReplayAsked) -> Iterable[str]:
    again = replay_again(session=lane.session, revision=lane.revision, asked=asked)
    return written(report_of(found.run.replay), again=again)


def _keep(lane: Lane, asked: ReplayAsked) -> str | None:
    return history_replay(session=lane.session, revision=lane.revision, asked=asked).history


def _lines(found: Replayed) -> Iterable[str]:
    detail = found.detail
    yield f"{detail.policy.id} over session {detail.session}: {detail.firings:,} compactions in {detail.calls:,} calls"
    for row in found.rows:
        did = ", ".join(f"{run.layer} {run.own_after - run.own_before:+,}" for run in row.runs if run.edits) or row.status
        sizes = f"{row.before.own:,} → {row.after.own:,} ({detail.unit_title}) ≈ {row.before.exact:,} → {row.after.exact:,} exact"
        yield f"before call {row.call:,}: {sizes}: {did}"
    for layer in detail.layers:
        why = f"; {layer.why_not}" if layer.why_not and not layer.edits else ""
        yield f"{layer.layer}: {layer.edits:,} edits, {layer.own:,} ({detail.unit_title}) ≈ {layer.exact:,} exact{why}"
    yield f"arrived {detail.arrived.own:,} ≈ {detail.arrived.exact:,} exact; last call {detail.last.own:,} ≈ {detail.last.exact:,} exact"
    for finding in detail.findings:
        yield f"{finding.code}: {finding.detail}"
