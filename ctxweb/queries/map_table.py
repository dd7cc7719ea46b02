"""The context map as a table: a row a call, a row a bin in a long lane."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Sum

from ctxweb.charts.bins import Bin, binned, bins_from_json
from ctxweb.charts.context_map import MOST_CALLS_IN_ORDER
from ctxweb.lane_rows import lane_rows
from ctxweb.models import Compaction, History, Session
from ctxweb.queries.readout import hidden_overhead
from ctxweb.vocabulary import KINDS, Word

ROWS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class MapTableRow:
    """`first`…`last` are the calls of a bin, shown by `call`; `kinds` in the order of the columns; `edits` before these calls."""

    first: int
    last: int
    call: int
    reported: int | None
    kinds: tuple[int, ...]
    unexplained: int | None
    cached_share: float | None
    edits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MapTable:
    """`columns` are the kinds that occur, `overhead` included where something was hidden; `next` is the call to go on after."""

    columns: tuple[Word, ...]
    rows: tuple[MapTableRow, ...]
    is_binned: bool
    calls: int
    next: int | None


def map_table(*, session: Session, history: History, after: int) -> MapTable:
    """The rows behind call `after`."""
    overhead = hidden_overhead(revision_id=history.revision_id) or 0
    is_binned = session.call_count > MOST_CALLS_IN_ORDER
    bins = bins_from_json(history.bins) if is_binned else binned(lane_rows(history=history).calls, drops=(), most=MOST_CALLS_IN_ORDER)
    places = [place for place in range(len(KINDS)) if (place == 0 and overhead) or any(each.call.kinds[place] for each in bins)]
    window = [each for each in bins if each.first > after]
    edits = _edits(history)
    shown = window[:ROWS]
    return MapTable(
        columns=tuple(KINDS[place] for place in places),
        rows=tuple(_row(each, places, overhead, edits) for each in shown),
        is_binned=is_binned,
        calls=session.call_count,
        next=shown[-1].first if len(window) > ROWS else None,
    )


def _edits(history: History) -> dict[int, int]:
    """Edits by the call before which they were made."""
    rows = Compaction.objects.filter(history=history).order_by().values_list("before_call").annotate(Sum("edits"))
    return {call: edits for call, edits in rows if call is not None}


def _row(each: Bin, places: list[int], overhead: int, edits: dict[int, int]) -> MapTableRow:
    call = each.call
    return MapTableRow(
        first=each.first,
        last=each.last,
        call=call.n,
        reported=call.reported,
        kinds=tuple(call.kinds[place] + (overhead if place == 0 else 0) for place in places),
        unexplained=None if call.reported is None else call.reported - overhead - call.estimate,
        cached_share=call.cached,
        edits=sum(edits.get(n, 0) for n in range(each.first, each.last + 1)),
    )
