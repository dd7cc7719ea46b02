"""What an address names. A session is readable when a revision of it is published; a foreign id answers like a missing one."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404

from compaction.messages import BlockId
from ctxweb.models import History, Revision, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A session with its published revision and one of its histories: the recorded one, or a replay that was kept."""

    session: Session
    revision: Revision
    history: History

    @property
    def is_replayed(self) -> bool:
        return self.history.origin == "replayed"

    @property
    def h(self) -> str:
        """The parameter `h` that names the history in an address; empty for the recorded one."""
        return self.history.public_id if self.is_replayed else ""


def readable_session(*, public_id: str) -> tuple[Session, Revision]:
    """The session and its published revision. Raises Http404."""
    session = Session.objects.select_related("current__source", "parent").filter(public_id=public_id).first()
    if session is None or session.current is None:
        raise Http404
    return session, session.current


def readable_lane(*, public_id: str, history_id: str = "") -> Lane:
    """The session of that public id with its history `history_id`, the recorded one where none is named. Raises Http404."""
    session, revision = readable_session(public_id=public_id)
    named = {"public_id": history_id} if history_id else {"origin": "recorded"}
    history = revision.histories.filter(**named).first()
    if history is None:
        raise Http404
    return Lane(session=session, revision=revision, history=history)


def readable_history(*, public_id: str) -> Lane:
    """The history of that public id in the published revision of its session. Raises Http404."""
    found = History.objects.select_related("revision__session__current__source", "revision__session__parent")
    for history in found.filter(public_id=public_id):
        session = history.revision.session
        current = session.current if session is not None else None
        if session is not None and current is not None and current.pk == history.revision_id:
            return Lane(session=session, revision=current, history=history)
    raise Http404


def block_id(*, written: str) -> BlockId:
    """The block that `seq.i` names. Raises Http404."""
    seq, dot, i = written.partition(".")
    if not dot or not (seq + i).isascii() or not seq.isdigit() or not i.isdigit() or len(seq) > 9 or len(i) > 9:
        raise Http404
    return BlockId(int(seq), int(i))
