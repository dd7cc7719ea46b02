"""The panel of one durable item: its text, its source, the history of its source, and what can be done with it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from compaction.durable.pending import MOVES
from compaction.durable.values import PendingItem, RetrievalEvidence
from compaction.errors import SourceSystemError
from ctxweb import addresses
from ctxweb.importers.values import clean_text
from ctxweb.models import Session
from ctxweb.queries.source_counts import UNCHECKED
from ctxweb.queries.sources import HISTORY, Look, SourceItem, Stored, last_good, source_history, source_item, text_of
from ctxweb.services.source_watch import Badge
from ctxweb.sources.resolving import project_resolver
from ctxweb.views.source_rows import badge_of, time_of
from ctxweb.views.source_words import DOMAIN_WORDS

TEXT_CHARS = 4_000
EXCERPT_CHARS = 2_000
TRACES = 3
DECISIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LookRow:
    seq: int
    status: str
    reason: str
    digest: str
    actor: str
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionLine:
    memory_id: str
    decision: str
    reason: str
    score: float | None
    is_this: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceCard:
    """A retrieval that decided about this memory: its query, and what it decided; `left` more decisions are not listed."""

    query: str
    at: str
    decisions: tuple[DecisionLine, ...]
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPanel:
    """`record` leads to the record that the pointer names, where it is one of this database. `excerpt` is what was read of the
    source just now, None unless it was asked for; `excerpt_said` tells why there is none. `moves` are the statuses that a
    pending item may get."""

    public_id: str
    key: str
    title: str
    item_id: str
    text: str
    is_cut: bool
    state: str
    reason: str
    pointer: str
    record: str | None
    badge: Badge | None
    confirmed_at: str
    confirmed: str
    found: str
    actor: str
    checked_at: datetime | None
    good_at: datetime | None
    looks: tuple[LookRow, ...]
    entries: str | None
    excerpt: str | None
    excerpt_said: str
    traces: tuple[TraceCard, ...]
    moves: tuple[str, ...]
    can_edit: bool


def item_panel(*, stored: Stored, key: str, with_excerpt: bool) -> ItemPanel:
    """Raises Http404."""
    found = source_item(stored=stored, key=key)
    item, session, text = found.item, stored.session, text_of(found.item)
    looks = source_history(session=session, pointer=found.pointer) if found.is_pointer else ()
    good = last_good(session=session, pointer=found.pointer) if found.status not in ("available", UNCHECKED) else None
    excerpt, said = _excerpt(session, found) if with_excerpt and found.is_pointer else (None, "")
    is_pending, is_done = isinstance(item, PendingItem), isinstance(item, PendingItem) and item.status == "done"
    return ItemPanel(
        public_id=session.public_id,
        key=key,
        title=f"{DOMAIN_WORDS[found.domain].capitalize()} {found.place:,}",
        item_id=clean_text(item.id),
        text=text[:TEXT_CHARS],
        is_cut=len(text) > TEXT_CHARS,
        state=item.status if isinstance(item, PendingItem) else "",
        reason=clean_text(item.reason or "") if isinstance(item, PendingItem) else "",
        pointer=found.pointer,
        record=_record_address(session, found.pointer),
        badge=badge_of(found) if found.is_pointer else None,
        confirmed_at=getattr(item, "last_confirmed_at", "") or getattr(item, "captured_at", ""),
        confirmed=found.confirmed,
        found=found.last.digest if found.last is not None else "",
        actor=found.last.actor if found.last is not None else "",
        checked_at=time_of(found.last),
        good_at=time_of(good),
        looks=tuple(map(_look_row, looks)),
        entries=addresses.audit_entries(pointer=found.pointer) if len(looks) == HISTORY else None,
        excerpt=excerpt,
        excerpt_said=said,
        traces=_traces(stored, item) if isinstance(item, RetrievalEvidence) else (),
        moves=tuple(sorted(MOVES[item.status])) if isinstance(item, PendingItem) else (),
        can_edit=found.domain == "facts" or (is_pending and not is_done),
    )


def _look_row(look: Look) -> LookRow:
    return LookRow(
        seq=look.seq, status=look.status, reason=look.reason.replace("_", " "), digest=look.digest[:8], actor=look.actor, at=time_of(look)
    )


def _record_address(session: Session, pointer: str) -> str | None:
    """Where a transcript pointer into this session can be read."""
    scheme, _, rest = pointer.partition(":")
    named, _, number = rest.partition(":")
    if scheme == "transcript" and named == session.public_id and number.isascii() and number.isdigit() and len(number) < 10:
        return f"{addresses.import_report(session.public_id)}/{int(number)}"
    return None


def _excerpt(session: Session, found: SourceItem) -> tuple[str | None, str]:
    """What a person may read of the source: looked up now, and kept nowhere."""
    try:
        with project_resolver(project=session.project, pointers=[found.pointer], excerpt_chars=EXCERPT_CHARS) as opened:
            resolution = opened.resolver.resolve(found.pointer)
    except SourceSystemError as error:
        return None, f"The source cannot be looked at now ({error.cause})."
    if resolution.excerpt is None:
        return None, f"The source is {resolution.status}: {resolution.reason.replace('_', ' ')}."
    return clean_text(resolution.excerpt)[:EXCERPT_CHARS], ""


def _traces(stored: Stored, item: RetrievalEvidence) -> tuple[TraceCard, ...]:
    cards = []
    for trace in stored.state.traces_of(item.memory_id)[:TRACES]:
        mine = [one for one in trace.decisions if one.memory_id == item.memory_id]
        others = [one for one in trace.decisions if one.memory_id != item.memory_id]
        shown = (mine + others)[:DECISIONS]
        lines = tuple(
            DecisionLine(
                memory_id=clean_text(one.memory_id),
                decision=one.decision,
                reason=clean_text(one.reason),
                score=one.score,
                is_this=one.memory_id == item.memory_id,
            )
            for one in shown
        )
        cards.append(
            TraceCard(query=clean_text(trace.query), at=trace.captured_at, decisions=lines, left=len(trace.decisions) - len(shown))
        )
    return tuple(cards)
