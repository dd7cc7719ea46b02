"""Records between the messages: side records, and those that could not be read. They are counted where they stand."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ctxweb.models import Message, Record, Revision
from ctxweb.queries.messages import MessagesWindow
from ctxweb.queries.report import SOUND

MOST_RECORDS = 5_000  # looked at for one window; what lies behind is in the import report


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRecords:
    """`count` records behind the message `after` (0: before the first), by type, the unreadable ones by verdict.
    `first` is the number of the first of them, `before` the one in front of it."""

    after: int
    count: int
    first: int
    before: int
    kinds: tuple[tuple[str, int], ...]
    bad: int


def side_records(*, revision: Revision, window: MessagesWindow, is_first: bool) -> dict[int, SideRecords]:
    """By message: the records behind it, and before the next one, that are no message and no further line of one."""
    starts = [(message.record, message.seq) for message in window.messages]
    if not starts:
        return {}
    low = 0 if is_first else starts[0][0]
    records = Record.objects.filter(source=revision.source, number__gt=low)
    end = _end(revision, starts[-1][1])
    records = records.filter(number__lt=end) if end is not None else records
    heads = Record.objects.filter(source=revision.source, number__in=[number for number, _ in starts], verdict__in=SOUND)
    others = records.exclude(type__in=heads.values("type"), verdict__in=SOUND).exclude(number__in=[number for number, _ in starts])
    return _grouped(starts, list(others.order_by("number").values_list("number", "verdict", "type")[:MOST_RECORDS]))


def _end(revision: Revision, seq: int) -> int | None:
    """The record with which the message behind `seq` begins."""
    return Message.objects.filter(revision=revision, seq__gt=seq).order_by("seq").values_list("record", flat=True).first()


def _grouped(starts: Sequence[tuple[int, int]], records: Sequence[tuple[int, str, str]]) -> dict[int, SideRecords]:
    numbers = [number for number, _ in starts]
    groups: dict[int, list[tuple[int, str, str]]] = {}
    for record in records:
        place = bisect_left(numbers, record[0])
        groups.setdefault(starts[place - 1][1] if place else 0, []).append(record)
    return {seq: _side(seq, group) for seq, group in groups.items()}


def _side(seq: int, group: Sequence[tuple[int, str, str]]) -> SideRecords:
    kinds = Counter(kind or "no type" if verdict == "ok" else verdict for _, verdict, kind in group)
    return SideRecords(
        after=seq,
        count=len(group),
        first=group[0][0],
        before=group[0][0] - 1,
        kinds=tuple(kinds.most_common(4)),
        bad=sum(verdict not in SOUND for _, verdict, _ in group),
    )
