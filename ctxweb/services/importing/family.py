"""What sessions have to do with each other, whatever order they were imported in: parents, and calls that were copied.

A file that was resumed or forked begins with a copy of another file's records. Each model call counts in one session
only. The copy is the session that says it is a fork; else the one that goes on after the
shared calls with calls of its own; else the one that began later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db import connection

from ctxweb.models import Block, Message, ModelCall, Revision, Session
from ctxweb.services.importing.figures import figures_of

GLOBAL_CALL_IDS = ("claude_code",)
"""Formats whose ids of model calls are the provider's own, so that the same id in two files is the same call."""

_ANCESTORS = 50
_HOLDERS = """
    SELECT DISTINCT other.id, other.revision_id, other.n, other.native_id, other.copied
    FROM ctxweb_modelcall mine
    JOIN ctxweb_modelcall other ON other.native_id = mine.native_id
    JOIN ctxweb_session session ON session.current_id = other.revision_id
    WHERE mine.revision_id = %s AND mine.native_id <> '' AND session.format IN ({formats})
    AND (other.inherited = {false} OR other.copied = {true})
"""


def parents_settle(*, sessions: Iterable[Session]) -> None:
    """Find the parents of these sessions, and the sessions that named one of them before it was there."""
    own = [session.pk for session in sessions]
    names = set(Session.objects.filter(pk__in=own).exclude(native_id="").values_list("native_id", flat=True))
    waiting = Session.objects.filter(parent_native_id__in=names).values_list("pk", flat=True)
    for session in Session.objects.filter(pk__in={*own, *waiting}).select_related("current").order_by("public_id"):
        parent = _parent_of(session)
        if session.parent_id != (parent.pk if parent else None):
            session.parent = parent
            session.save(update_fields=["parent"])


def _parent_of(session: Session) -> Session | None:
    facts = session.current.facts if session.current else {}
    named = Session.objects.exclude(pk=session.pk).filter(format=session.format)
    parent = named.filter(public_id=facts["parent_public_id"]).first() if facts.get("parent_public_id") else None
    if parent is None and session.parent_native_id:
        candidates = named.filter(native_id=session.parent_native_id).exclude(lane="subagent")
        parent = candidates.order_by("started_at", "public_id").first()
    return None if parent is None or _descends(parent, session) else parent


def _descends(session: Session, ancestor: Session) -> bool:
    """Whether `session` hangs on `ancestor`; a chain too long to be one counts as a circle."""
    for _ in range(_ANCESTORS):
        if session.parent_id == ancestor.pk:
            return True
        if session.parent is None:
            return False
        session = session.parent
    return True


@dataclass(slots=True)
class _Holder:
    """A current revision that holds some of the calls in question: their numbers by native id, and those now marked."""

    revision_id: int
    calls: dict[str, int] = field(default_factory=dict)
    marked: set[int] = field(default_factory=set)


def copies_settle(*, revisions: Iterable[int]) -> set[int]:
    """Mark the calls that current revisions share with the given ones as copied in all but one; those that changed."""
    holders: dict[int, _Holder] = {}
    for revision_id in revisions:
        _find_holders(revision_id, holders)
    by_call: dict[str, list[_Holder]] = defaultdict(list)
    for holder in holders.values():
        for native_id in holder.calls:
            by_call[native_id].append(holder)
    order = _by_originality(holders, {native_id for native_id, having in by_call.items() if len(having) > 1})
    copies: dict[int, set[int]] = {revision_id: set() for revision_id in holders}
    for native_id, having in by_call.items():
        for holder in sorted(having, key=lambda holder: order[holder.revision_id])[1:]:
            copies[holder.revision_id].add(holder.calls[native_id])
    changed = {key for key, holder in holders.items() if copies[key] != holder.marked}
    for revision_id in changed:
        _mark(revision_id, copies[revision_id], holders[revision_id].marked)
    return changed


def _find_holders(revision_id: int, holders: dict[int, _Holder]) -> None:
    false, true = ("0", "1") if connection.vendor == "sqlite" else ("false", "true")
    query = _HOLDERS.format(formats=", ".join(["%s"] * len(GLOBAL_CALL_IDS)), false=false, true=true)
    with connection.cursor() as cursor:
        cursor.execute(query, [revision_id, *GLOBAL_CALL_IDS])
        for _, other, n, native_id, copied in cursor.fetchall():
            holder = holders.setdefault(other, _Holder(revision_id=other))
            holder.calls[native_id] = n
            if copied:
                holder.marked.add(n)


def _by_originality(holders: dict[int, _Holder], shared: set[str]) -> dict[int, tuple[bool, bool, str, str]]:
    """What sorts the original before its copies."""
    order = {}
    for revision in Revision.objects.filter(pk__in=holders):
        calls = ModelCall.objects.filter(revision=revision).count()
        goes_on = calls > len(shared & holders[revision.pk].calls.keys())
        started = revision.figures["started_at"] or ""
        order[revision.pk] = (revision.facts["lane"] != "main", goes_on, started, revision.facts["public_id"])
    return order


def _mark(revision_id: int, copied: set[int], marked: set[int]) -> None:
    for numbers, state in ((marked - copied, False), (copied, True)):
        calls = ModelCall.objects.filter(revision_id=revision_id, n__in=numbers)
        _mark_messages(revision_id, numbers, state)
        calls.update(inherited=state, copied=state)
    revision = Revision.objects.get(pk=revision_id)
    revision.figures = {**revision.figures, **figures_of(revision=revision)}
    revision.save(update_fields=["figures"])


def _mark_messages(revision_id: int, numbers: set[int], state: bool) -> None:
    """A copied beginning is inherited as a whole, with the results that follow its last call."""
    if not numbers:
        return
    messages = Message.objects.filter(revision_id=revision_id)
    last = messages.filter(call__in=numbers).order_by("-seq").values_list("seq", flat=True).first()
    if last is None:
        return
    if ModelCall.objects.filter(revision_id=revision_id, n__lte=max(numbers)).count() > len(numbers):
        messages.filter(call__in=numbers).update(inherited=state)
        return
    others = Block.objects.filter(revision_id=revision_id, seq__gt=last).exclude(kind="tool_result")
    own = others.order_by("seq").values_list("seq", flat=True).first()
    copies = messages if own is None else messages.filter(seq__lt=own)
    copies.update(inherited=state)
