"""Making every table anew from the raw bytes, in the order in which they were imported."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F

from ctxweb.jobs import JobRun, job_claim, job_open
from ctxweb.models import Body, History, Record, Revision, Session, Source, TokenCount
from ctxweb.replays.asked import ReplayRefused
from ctxweb.services.durable_versions import durable_reindex
from ctxweb.services.history_replay import asked_from_json, history_replay
from ctxweb.services.importing.removing import revision_remove
from ctxweb.services.importing.tables import rows_delete
from ctxweb.services.search_index import bodies_index, index_clear
from ctxweb.services.session_import import import_finish, import_open

KEY = hashlib.sha256(b"rebuild").hexdigest()


class RebuildBusy(Exception):
    """Another process is rebuilding, or imports are running; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """How many stored files there are, and a sentence for each that could not be imported again."""

    files: int
    failed: tuple[str, ...]


def rebuild(*, progress: Callable[[str], object]) -> Rebuilt:
    """Drop what was made from the sources and import their stored bytes again.

    The list of the files is committed in the job's row before anything is dropped, so a rebuild that was killed goes on
    when it is called again.
    """
    job = job_open(kind="rebuild", key=KEY, params={})
    claimed = job_claim(job_id=job.pk)
    if claimed is None:
        raise RebuildBusy("Another process is rebuilding: wait for its end, or stop it.")
    run = JobRun(claimed)
    if not claimed.cursor:
        with run.commit(stage="listing", cursor={"files": _files(), "replays": _replays(), "done": None, "failed": []}):
            pass
    if claimed.cursor["done"] is None:
        _drop_all(run)
        with run.commit(stage="importing", cursor={**claimed.cursor, "done": 0}):
            pass
    _import_all(run, progress)
    _replay_all(claimed.cursor.get("replays", []))
    durable_reindex()
    files, failed = claimed.cursor["files"], tuple(claimed.cursor["failed"])
    run.end("succeeded", result={"files": len(files), "failed": len(failed)}, cursor={})
    return Rebuilt(files=len(files), failed=failed)


def _files() -> list[list[object]]:
    """[SHA-256, name, size] of each stored file, the first imported first."""
    rows = Source.objects.filter(state=Source.State.READY).order_by("imported_at", "pk").values_list("sha256", "name", "size")
    return [[sha256, name, size] for sha256, (name, size) in {sha256: (name, size) for sha256, name, size in rows}.items()]


def _replays() -> list[dict[str, Any]]:
    """The replays that are kept, oldest first: what was asked for is in no source."""
    kept = History.objects.filter(origin="replayed", revision__session__current=F("revision")).order_by("created_at", "pk")
    rows = kept.values_list("revision__session__public_id", "policy_data", "settings", "pinned")
    return [{"session": session, "policy": policy, **told, "pinned": pinned} for session, policy, told, pinned in rows]


def _replay_all(replays: list[dict[str, Any]]) -> None:
    """Make the replays again. One whose session is not there any more, or that this version refuses, is left out."""
    for stored in replays:
        session = Session.objects.select_related("current").filter(public_id=stored["session"]).first()
        if session is None or session.current is None:
            continue
        try:
            kept = history_replay(session=session, revision=session.current, asked=asked_from_json(stored))
        except ReplayRefused:
            continue
        if stored["pinned"]:
            History.objects.filter(revision=session.current, public_id=kept.history).update(pinned=True)


def _drop_all(run: JobRun) -> None:
    with run.commit(stage="dropping"):
        Session.objects.update(current=None, parent=None)
        Source.objects.update(superseded_by=None)
    for revision_id in list(Revision.objects.values_list("pk", flat=True)):
        revision_remove(revision_id=revision_id, commit=run.commit)
    for table in (Session, Record, Source, TokenCount):
        rows_delete(table, commit=run.commit)
    rows_delete(Body, commit=run.commit, summaries=None)
    with run.commit():
        index_clear()
        bodies_index(bodies=Body.objects.values_list("pk", "text"))  # the texts of summaries: no source has them


def _import_all(run: JobRun, progress: Callable[[str], object]) -> None:
    cursor = run.job.cursor
    for place, (sha256, name, size) in enumerate(cursor["files"]):
        if place < cursor["done"]:
            continue
        progress(f"{place + 1} of {len(cursor['files'])}: {sha256[:12]}")
        with transaction.atomic():
            job = import_open(name=name, sha256=sha256, size=size)
        ended = import_finish(job=job)
        outcomes = (ended.result or {}).get("outcomes", [])
        errors = [ended.error] if ended.error else [outcome["error"] for outcome in outcomes if outcome["status"] == "failed"]
        failed = [*cursor["failed"], *(f"{sha256[:12]}…: {error['message']}" for error in errors)]
        cursor = {**cursor, "done": place + 1, "failed": failed}
        with run.commit(unit="files", done=place + 1, total=len(cursor["files"]), cursor=cursor):
            pass
