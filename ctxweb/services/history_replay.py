"""Keeping a replay: its history is stored beside the recorded one, and every page of a history then works for it.

The same session, policy and settings are one history, however often it is asked for. Of a session at most CTXWEB_REPLAYS_KEPT
replays are kept: a further one takes the place of the oldest that nobody pinned.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction

from compaction.policy_json import policy_to_data
from ctxweb.jobs import JobRun, job_ended, job_open, job_ring
from ctxweb.models import History, Job, Revision, Session
from ctxweb.replays.asked import ReplayAsked, ReplayRefused, history_id, replay_asked
from ctxweb.replays.lane import replayable_lane
from ctxweb.replays.run import is_costly, replay_run
from ctxweb.services.importing.removing import history_remove
from ctxweb.services.replay_rows import history_store

DIRECT_BLOCKS = 3_000  # of a lane that is replayed and stored well within a second
READY_SECONDS = 1.0  # how long an answer waits for the job of a longer one
LOOK_SECONDS = 0.05
KIND = "replay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """`history` is the public id, None while the `job` is at work; `made` is False where it was there already. `dropped` are the
    policies of the replays whose place it took."""

    history: str | None
    made: bool = False
    dropped: tuple[str, ...] = ()
    job: Job | None = None


def history_replay(*, session: Session, revision: Revision, asked: ReplayAsked) -> Kept:
    """Replay the lane and store the history, in this process. Raises ReplayRefused."""
    with replayable_lane(session=session, revision=revision) as lane:
        public_id = history_id(session=session.public_id, policy=asked.policy(lane), asked=asked)
        if _is_there(revision, public_id):
            return Kept(history=public_id)
        run = replay_run(session=session, revision=revision, lane=lane, asked=asked)
        with transaction.atomic():
            if _is_there(revision, public_id):
                return Kept(history=public_id)
            history_store(session=session, revision=revision, public_id=public_id, run=run)
            dropped = _make_room(revision, public_id)
    return Kept(history=public_id, made=True, dropped=dropped)


def replay_keep(*, session: Session, revision: Revision, asked: ReplayAsked) -> Kept:
    """Store the replay: at once where the lane is short, else by a job, whose end is awaited for a second. Raises ReplayRefused."""
    with replayable_lane(session=session, revision=revision) as lane:
        policy = asked.policy(lane)
        public_id = history_id(session=session.public_id, policy=policy, asked=asked)
        is_short = len(lane.blocks) <= DIRECT_BLOCKS and not is_costly(policy, lane)
    if is_short or _is_there(revision, public_id):
        return history_replay(session=session, revision=revision, asked=asked)
    job = replay_open(session=session, asked=asked)
    deadline = time.monotonic() + READY_SECONDS
    while not (ended := job_ended(job=job)) and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
    return _of_job(job) if ended else Kept(history=None, job=job)


def replays_follow(*, session: Session, before: int) -> None:
    """Have the replays that were kept over an earlier state of the session, the revision `before`, made again over the present one:
    they keep their ids. Within the caller's transaction."""
    rows = History.objects.filter(revision=before, origin="replayed").order_by("created_at", "pk")
    for policy, told, pinned in rows.values_list("policy_data", "settings", "pinned"):
        with contextlib.suppress(ReplayRefused):  # this version replays it no more
            replay_open(session=session, asked=asked_from_json({"policy": policy, **told}), pinned=pinned)


def replay_open(*, session: Session, asked: ReplayAsked, pinned: bool = False) -> Job:
    """The one job of this replay, queued for a worker."""
    params = {"name": f"{asked.base.id} over {session.public_id}", "session": session.public_id, **asked_to_json(asked)}
    params |= {"pinned": True} if pinned else {}
    key = hashlib.sha256(json.dumps([KIND, params], sort_keys=True).encode()).hexdigest()
    with transaction.atomic():
        job = job_open(kind=KIND, key=key, params=params)
        job_ring(job=job)
    return job


def replay_work(run: JobRun) -> None:
    """The work of a replay job: its result is `{"history", "made", "dropped"}`."""
    params = run.job.params
    session = Session.objects.select_related("current").filter(public_id=params["session"]).first()
    if session is None or session.current is None:
        run.end("failed", error={"code": "no_session", "message": "The session is not there any more: import it again."})
        return
    with run.commit(stage="replaying", unit="replays", done=0, total=1):
        pass
    try:
        kept = history_replay(session=session, revision=session.current, asked=asked_from_json(params))
    except ReplayRefused as error:
        run.end("failed", error={"code": "refused", "message": f"{error.field}: {error}"})
        return
    if params.get("pinned"):
        History.objects.filter(revision=session.current, public_id=kept.history).update(pinned=True)
    run.end("succeeded", done=1, total=1, result={"history": kept.history, "made": kept.made, "dropped": list(kept.dropped)})


def asked_to_json(asked: ReplayAsked) -> dict[str, Any]:
    return {"policy": policy_to_data(asked.base), **asked.settings()}


def asked_from_json(stored: Mapping[str, Any]) -> ReplayAsked:
    """What `asked_to_json` wrote. Raises ReplayRefused where a newer version refuses it."""
    return replay_asked(
        policy=stored["policy"],
        limits=stored["limits"],
        count=stored["count"],
        summaries=stored["summaries"],
        orphans=stored["orphans"],
    )


def history_pin(*, history: History, pinned: bool) -> None:
    """A pinned replay is kept when others take each other's place."""
    History.objects.filter(pk=history.pk, origin="replayed").update(pinned=pinned)


def history_drop(*, history: History) -> None:
    """Remove a replay that was kept."""
    if history.origin == "replayed":
        history_remove(history_id=history.pk, commit=transaction.atomic)


def _is_there(revision: Revision, public_id: str) -> bool:
    return History.objects.filter(revision=revision, public_id=public_id).exists()


def _make_room(revision: Revision, newest: str) -> tuple[str, ...]:
    """Remove the oldest unpinned replays beyond the number that is kept; within the caller's transaction."""
    kept = History.objects.filter(revision=revision, origin="replayed")
    surplus = kept.count() - settings.CTXWEB_REPLAYS_KEPT
    if surplus <= 0:
        return ()
    oldest = list(kept.filter(pinned=False).exclude(public_id=newest).order_by("created_at", "pk")[:surplus])
    for history in oldest:
        history_remove(history_id=history.pk, commit=transaction.atomic)
    return tuple(history.policy for history in oldest)


def _of_job(job: Job) -> Kept:
    result: Mapping[str, Any] = job.result or {}
    if "history" not in result:
        return Kept(history=None, job=job)
    return Kept(history=result["history"], made=bool(result["made"]), dropped=tuple(result["dropped"]), job=job)
