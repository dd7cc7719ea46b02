"""All checkpoints of a session.

A recorded one is numbered in the order of the file, a made one as it was made. Keys never change: a file only grows at its end,
and of made ones every row counts, whatever became of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count

from ctxweb.checkpoints.base import Checkpoint
from ctxweb.checkpoints.made import made_checkpoints
from ctxweb.checkpoints.recorded import recorded_checkpoints
from ctxweb.models import LedgerEntry, Message, Revision, Session, Summary


def checkpoints_of(*, session: Session, revision: Revision) -> tuple[Checkpoint, ...]:
    """All checkpoints of a session: the recorded ones in the order of the file, then the made ones as they were made."""
    recorded = tuple(recorded_checkpoints(session, revision))
    return (*recorded, *made_checkpoints(session, recorded))


def checkpoint_count(*, session: Session) -> int:
    """How many stand for something, for a label: what was refused is not counted."""
    return _recorded_count(session) + Summary.objects.filter(session=session.public_id, state=Summary.State.KEPT).count()


def _recorded_count(session: Session) -> int:
    summaries = Message.objects.filter(revision=session.current_id, origin="summary").values("seq")
    put = LedgerEntry.objects.filter(history__revision=session.current_id, history__origin="recorded", adds=True, seq__in=summaries)
    found = put.aggregate(compactions=Count("compaction", distinct=True), messages=Count("seq", distinct=True))
    return int(found["compactions"]) + summaries.count() - int(found["messages"])


def chain_of(checkpoints: Sequence[Checkpoint], key: str) -> tuple[Checkpoint, ...]:
    """The checkpoint of this key with those that it grew out of, the oldest first."""
    by_key = {one.key: one for one in checkpoints}
    chain: dict[str, Checkpoint] = {}
    while key in by_key and key not in chain:
        chain[key] = by_key[key]
        key = by_key[key].parent
    return tuple(reversed(chain.values()))
