"""Durable items and looks at sources as rows of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from compaction.durable.values import PendingItem, RetrievalEvidence
from ctxweb.queries.source_counts import UNCHECKED
from ctxweb.queries.sources import CHECKS, Look, SourceItem, text_of
from ctxweb.services.source_watch import Badge, badge_key

STEP = 11  # px from one look to the next in a strip
POINTER_TAIL = 26
SHORT_SESSION = 9
_LONG_AGO = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Looks with one status beside each other: from `start` to `end` px of a strip."""

    status: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """The last looks at a source, the oldest left; `said` is the same in words."""

    runs: tuple[Run, ...]
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """One row: `state` is that of a pending item, `badge` None for evidence that names no source that is looked up."""

    key: str
    place: int
    text: str
    state: str
    pointer: str
    whole_pointer: str
    badge: Badge | None
    digest: str
    strip: Strip | None
    at: datetime | None
    score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCard:
    """One list of the page, with the address of its next window."""

    name: str
    title: str
    column: str
    said: str
    total: int
    matching: int
    rows: tuple[ItemRow, ...]
    more: str | None


def item_row(item: SourceItem) -> ItemRow:
    return ItemRow(
        key=item.key,
        place=item.place,
        text=text_of(item.item),
        state=item.item.status if isinstance(item.item, PendingItem) else "",
        pointer=short_pointer(item.pointer),
        whole_pointer=item.pointer,
        badge=badge_of(item) if item.is_pointer else None,
        digest=item.last.digest[:8] if item.last is not None else "",
        strip=strip_of(item.checks) if item.checks else None,
        at=time_of(item.last),
        score=item.item.score if isinstance(item.item, RetrievalEvidence) else None,
    )


def badge_of(item: SourceItem) -> Badge:
    """What the watch will put into its place, as the audit last said it."""
    return Badge(
        key=badge_key(item.pointer),
        pointer=item.pointer,
        status="" if item.status == UNCHECKED else item.status,
        reason="" if item.last is None else item.last.reason,
        is_changed=item.is_changed,
        trouble="",
        since=time_of(item.last) or _LONG_AGO,
    )


def strip_of(checks: Sequence[str]) -> Strip:
    runs = tuple(_runs(checks))
    counts = [f"{count} {status}" for status, count in _counts(checks)]
    return Strip(runs=runs, said=f"last {len(checks)} checks: {', '.join(counts)}")


def short_pointer(pointer: str) -> str:
    """The scheme, the beginning of its session, and its end: enough to know a pointer by in a row."""
    scheme, _, rest = pointer.partition(":")
    session, colon, tail = rest.partition(":")
    if not colon:
        return pointer if len(pointer) <= POINTER_TAIL * 2 else f"{pointer[:POINTER_TAIL]}…{pointer[-POINTER_TAIL:]}"
    short = session if len(session) <= SHORT_SESSION else f"{session[:SHORT_SESSION]}…"
    return f"{scheme}:{short}:{_short_digest(tail)}"


def time_of(look: Look | None) -> datetime | None:
    return None if look is None else datetime.fromisoformat(look.at)


def _short_digest(tail: str) -> str:
    name, _, digest = tail.rpartition(":")
    if name and len(digest) >= 12:
        tail = f"{name}:{digest[:8]}…"
    return tail if len(tail) <= POINTER_TAIL * 2 else f"{tail[:POINTER_TAIL]}…{tail[-POINTER_TAIL:]}"


def _runs(checks: Sequence[str]) -> Iterator[Run]:
    place = CHECKS - len(checks)
    for status, same in groupby(checks):
        count = len(list(same))
        yield Run(status=status, start=place * STEP, end=(place + count) * STEP - 2)
        place += count


def _counts(checks: Sequence[str]) -> list[tuple[str, int]]:
    return [(status, checks.count(status)) for status in dict.fromkeys(checks)]
