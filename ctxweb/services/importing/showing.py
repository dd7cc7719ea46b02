"""The moment at which an import becomes visible: one transaction that makes its revisions the current ones.

Which revision of a session is current does not depend on the order of imports, so that two homes with the same files
show the same figures: the fullest reading wins, by `_rank`: the time of the last message, then the number of records,
then how many of them are `ok`. Between equals the later import wins, so a file that was rewritten in place shows its
newest state. A source that goes on where a known one ended takes its place: the shorter reading is discarded.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F
from django.utils import timezone

from ctxweb.models import Record, Revision, Session, Source
from ctxweb.services.history_replay import replays_follow
from ctxweb.services.importing.family import copies_settle, parents_settle

_FROM_FACTS = (
    "native_id", "format", "lane", "parent_native_id", "parent_tool_id", "continues", "title", "cwd", "git_branch", "model", "producer",
    "producer_version", "context_window", "encoding",
)  # fmt: skip
_FROM_FIGURES = (
    "record_count", "verdicts", "messages_logged", "message_count", "block_count", "call_count", "tool_calls", "tool_results", "images",
    "input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens", "usage_flags", "peak_context", "recorded_compactions",
    "inferred_drops", "removed_blocks", "findings", "spark",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """`base` is an earlier state of the source; its first `kept` records are records of the new one too."""

    base: Source
    kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What became of a revision: `status` is imported or updated."""

    revision: int
    status: str


def source_show(*, source: Source, revisions: list[Revision], growth: Growth | None) -> list[Shown]:
    """Make the complete revisions of a source visible; within the caller's transaction."""
    if growth is not None:
        _take_over(source, growth)
    Source.objects.filter(pk=source.pk).update(state=Source.State.READY, imported_at=timezone.now())
    shown, before = [], []
    for revision in revisions:
        session, made = Session.objects.get_or_create(
            public_id=revision.facts["public_id"], defaults={"format": source.format, "lane": revision.facts["lane"]}
        )
        before.append(session.current_id)
        _place(revision, session, source)
        if before[-1] is not None and session.current_id != before[-1]:
            replays_follow(session=session, before=before[-1])
        shown.append(Shown(revision=revision.pk, status="imported" if made else "updated"))
    kept = Revision.objects.filter(source=source, state=Revision.State.DISCARDED, session__current=F("pk"))
    kept.update(state=Revision.State.READY)  # a lane that the longer state no longer shows
    changed = copies_settle(revisions=[*(revision.pk for revision in revisions), *(key for key in before if key is not None)])
    for session in Session.objects.filter(current__in=changed | {revision.pk for revision in revisions}).select_related("current"):
        session_fill(session=session)
    parents_settle(sessions=[revision.session for revision in revisions if revision.session is not None])
    return shown


def session_fill(*, session: Session) -> None:
    """Give a session's row the facts and figures of its current revision."""
    revision = session.current
    if revision is None:
        return
    values: dict[str, Any] = {name: revision.facts[name] for name in _FROM_FACTS}
    values |= {name: revision.figures[name] for name in _FROM_FIGURES}
    values |= {name: _time(revision.figures[name]) for name in ("started_at", "ended_at")}
    Session.objects.filter(pk=session.pk).update(**values, imported_at=timezone.now())


def _take_over(source: Source, growth: Growth) -> None:
    """Records and revisions of the earlier state move to the source that contains it; the rest of it goes."""
    base = growth.base
    Revision.objects.filter(source=base).update(source=source, state=Revision.State.DISCARDED)
    Record.objects.filter(source=base, number__lte=growth.kept).update(source=source)
    Record.objects.filter(source=base)._raw_delete("default")
    Source.objects.filter(superseded_by=base).update(superseded_by=source)
    Source.objects.filter(pk=base.pk)._raw_delete("default")


def _place(revision: Revision, session: Session, source: Source) -> None:
    """Put a revision beside the others of its session; the fullest one becomes current."""
    current = session.current
    stays = current is not None and current.state == Revision.State.READY and _rank(current) > _rank(revision)
    revision.session = session
    revision.state = Revision.State.SUPERSEDED if stays else Revision.State.READY
    revision.save(update_fields=["session", "state"])
    if stays:
        _supersede(source, current)
        return
    session.current = revision
    session.save(update_fields=["current"])
    Source.objects.filter(pk=source.pk).update(superseded_by=None)
    if current is not None and current.state == Revision.State.READY:
        Revision.objects.filter(pk=current.pk).update(state=Revision.State.SUPERSEDED)
        _supersede(current.source, revision)


def _supersede(source: Source, by: Revision | None) -> None:
    """Mark a source that no session shows any more."""
    if by is not None and by.source_id != source.pk and not Session.objects.filter(current__source=source).exists():
        Source.objects.filter(pk=source.pk).update(superseded_by=by.source_id)


def _rank(revision: Revision) -> tuple[str, int, int]:
    figures = revision.figures
    return figures["ended_at"] or "", figures["record_count"], figures["verdicts"].get("ok", 0)


def _time(written: str | None) -> datetime | None:
    return None if written is None else datetime.fromisoformat(written)
