"""Ledger: which layer removed what, grouped by compaction, each with its balance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from compaction.messages import BLOCK_KINDS
from ctxweb import addresses
from ctxweb.layer_runs import unit_word
from ctxweb.page import session_frame, show
from ctxweb.queries.ledger import (
    CompactionRow,
    EditRow,
    LedgerFilters,
    compaction_rows,
    drop_count,
    first_edits,
    layer_edits,
)
from ctxweb.queries.ledger_sums import LayerSum, LedgerTotals, layer_sums, ledger_totals
from ctxweb.queries.messages import tool_names
from ctxweb.queries.readable import Lane
from ctxweb.views import asked
from ctxweb.views.choices import Choice, Kept, same
from ctxweb.views.lanes import HistoryLink, history_links, lane_asked
from ctxweb.views.ledger_words import (
    Balance,
    balance_of,
    chip_of,
    estimates_of,
    evidence_of,
    finding_of,
    labels_of,
    replay_finding_of,
    said_of,
    title_of,
)
from ctxweb.views.windows import page_rows
from ctxweb.vocabulary import ACTIONS

GROUPS = 10  # compactions of a window: with six edits each it stays under 100 KB
EMPTY = {
    # whether it is a replay: why the ledger is empty
    False: "The file records no compaction, rewind or clear, and the reported sizes show no drop.",
    True: "The view of every call stayed below its trigger.",
}
SORT_WORDS = (("-tokens", "largest first"), ("tokens", "smallest first"), ("order", "in the order of the ledger"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerGroup:
    """The edits of one layer in one compaction: the first ones, and how many more there are behind `more`."""

    layer: LayerSum
    edits: tuple[EditRow, ...]
    more: str | None
    left: int
    left_tokens: int
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionGroup:
    """One compaction with its balance, that of the estimates in a line, and what each layer did in it; of a replay also why
    the others did `skipped` nothing."""

    compaction: CompactionRow
    title: str
    labels: tuple[str, ...]
    balance: Balance
    estimates: str
    evidence: tuple[str, ...]
    action: str
    layers: tuple[LayerGroup, ...]
    skipped: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerPage:
    """A window of compactions; `more` leads to the next one. Of a replay `unit` is how its own figures are called; it
    took the place of those `dropped`."""

    address: str
    public_id: str
    unit: str
    dropped: str
    policy: str
    histories: tuple[HistoryLink, ...]
    finding: str
    detail: str
    said: str
    empty_title: str
    empty_text: str
    unmatched: str
    inferred: int
    calls: int
    totals: LedgerTotals
    filtered: bool
    choices: tuple[Choice, ...]
    kept: tuple[Kept, ...]
    groups: tuple[CompactionGroup, ...]
    more: str | None
    whole: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EditsPage:
    """More edits of one layer of one compaction, put where the line that led to them was."""

    calls: int
    group: LayerGroup


@require_safe
def ledger(request: HttpRequest, session_id: str) -> HttpResponse:
    lane = lane_asked(request, session_id)
    filters = _filters(request)
    sort = asked.text(request.GET, "sort")
    target = request.headers.get("HX-Target", "")
    if target.startswith("more-"):
        return _more_edits(request, lane, filters, sort, target)
    page = _page(lane, filters, sort, after=asked.number(request.GET, "after") or 0, dropped=asked.text(request.GET, "dropped"))
    twin = addresses.with_query(addresses.api_history(lane.history.public_id, "ledger"), **asdict(filters))
    frame = session_frame(request, lane.session, tab="ledger", title=_title(lane), json=twin, history=lane.history)
    return show(request, template="ledger/page.html", frame=frame, page=page, fragments={"ledger-more": "ledger/_groups.html"})


def _title(lane: Lane) -> str:
    if lane.is_replayed:
        return f"Ledger · {lane.history.policy}"
    return f"Ledger · {lane.session.removed_blocks:,} removed"


def _filters(request: HttpRequest) -> LedgerFilters:
    words = {name: asked.text(request.GET, name) for name in ("layer", "action", "kind", "tool", "path")}
    return LedgerFilters(**words, compaction=asked.number(request.GET, "compaction"))


def _more_edits(request: HttpRequest, lane: Lane, filters: LedgerFilters, sort: str, target: str) -> HttpResponse:
    """The edits of one layer of one compaction behind the first `edits` of them."""
    if filters.compaction is None:
        raise Http404
    window = layer_edits(lane=lane, filters=filters, sort=sort, after=asked.number(request.GET, "edits") or 0, limit=page_rows())
    layer = LayerSum(layer=filters.layer, action=filters.action, edits=window.matching, tokens_before=0, tokens_after=0, never_sent=0)
    more = _edits_address(lane, filters, sort, int(window.next)) if window.next else None
    left = window.matching - int(window.next) if window.next else 0
    group = LayerGroup(layer=layer, edits=window.edits, more=more, left=left, left_tokens=0, target=target)
    page = EditsPage(calls=lane.session.call_count, group=group)
    frame = session_frame(request, lane.session, tab="ledger", title="Ledger", json="", history=lane.history)
    return show(request, template="ledger/_edits.html", frame=frame, page=page, fragments={target: "ledger/_edits.html"})


def _edits_address(lane: Lane, filters: LedgerFilters, sort: str, edits: int) -> str:
    return addresses.ledger(lane.session.public_id, **asdict(filters), sort=sort, edits=edits, h=lane.h)


def _page(lane: Lane, filters: LedgerFilters, sort: str, *, after: int, dropped: str) -> LedgerPage:
    public_id = lane.session.public_id
    rows = compaction_rows(lane=lane, after=after, limit=GROUPS + 1, filters=filters)
    shown, totals = rows[:GROUPS], ledger_totals(lane=lane, filters=filters)
    drops = drop_count(lane=lane, filters=filters) if filters.only_drops() else 0
    unit = unit_word(lane.history.unit) if lane.is_replayed else ""
    finding, detail = finding_of(lane.session, totals, filtered=filters.any(), drops=drops)
    if lane.is_replayed:
        finding, detail = replay_finding_of(lane.history.policy, totals, filtered=filters.any(), unit=unit)
    return LedgerPage(
        address=addresses.ledger(public_id, h=lane.h),
        public_id=public_id,
        unit=unit,
        dropped=dropped if lane.is_replayed else "",
        policy=lane.history.policy,
        histories=history_links(lane, lambda h: addresses.ledger(public_id, h=h)),
        finding=finding,
        detail=detail,
        said=said_of(totals, shown, drops=drops),
        empty_title="The policy did not fire" if lane.is_replayed else "Nothing was compacted",
        empty_text=EMPTY[lane.is_replayed],
        unmatched=f"The ledger holds {totals.unfiltered:,} edits; none of them has all of these.",
        inferred=0 if lane.is_replayed else lane.session.inferred_drops,
        calls=lane.session.call_count,
        totals=totals,
        filtered=filters.any(),
        choices=_choices(lane, filters, sort, totals.names),
        kept=_kept(lane, filters, sort),
        groups=_groups(lane, filters, sort, shown),
        more=addresses.ledger(public_id, **asdict(filters), sort=sort, after=shown[-1].ordinal, h=lane.h) if len(rows) > GROUPS else None,
        whole=addresses.ledger(public_id, h=lane.h) if filters.compaction is not None else None,
    )


def _groups(lane: Lane, filters: LedgerFilters, sort: str, rows: Sequence[CompactionRow]) -> tuple[CompactionGroup, ...]:
    keys = [row.key for row in rows if row.edits]
    sums = layer_sums(lane=lane, filters=filters, compactions=keys)
    edits = first_edits(lane=lane, filters=filters, sort=sort, compactions=keys)
    groups = []
    for row in rows:
        own = [edit for edit in edits if edit.compaction == row.ordinal]
        layers = tuple(_layer(lane, filters, sort, row, layer, own) for layer in sums.get(row.ordinal, ()))
        groups.append(_group(row, layers, unit=unit_word(lane.history.unit) if lane.is_replayed else ""))
    return tuple(groups)


def _kept(lane: Lane, filters: LedgerFilters, sort: str) -> tuple[Kept, ...]:
    """The history and the compaction asked for: the form has no field for them."""
    history = _kept_history(lane, filters, sort)
    if filters.compaction is None:
        return history
    without = addresses.ledger(lane.session.public_id, **(asdict(filters) | {"compaction": None}), sort=sort, h=lane.h)
    asked_for = compaction_rows(lane=lane, filters=LedgerFilters(compaction=filters.compaction))
    word = chip_of(asked_for, filters.compaction)
    return (*history, Kept(name="compaction", value=str(filters.compaction), word=word, without=without))


def _kept_history(lane: Lane, filters: LedgerFilters, sort: str) -> tuple[Kept, ...]:
    if not lane.is_replayed:
        return ()
    without = addresses.ledger(lane.session.public_id, **(asdict(filters) | {"compaction": None}), sort=sort)
    return (Kept(name="h", value=lane.h, word=f"replay of {lane.history.policy}", without=without),)


def _group(row: CompactionRow, layers: tuple[LayerGroup, ...], *, unit: str) -> CompactionGroup:
    return CompactionGroup(
        compaction=row,
        title=title_of(row),
        labels=labels_of(row),
        balance=balance_of(row, unit=unit),
        estimates=estimates_of(row),
        evidence=evidence_of(row),
        action="inferred" if row.origin == "inferred" else layers[0].layer.action if layers else "restore",
        layers=layers,
        skipped=tuple((run.title, run.skipped) for run in row.reports if run.skipped),
    )


def _layer(lane: Lane, filters: LedgerFilters, sort: str, row: CompactionRow, layer: LayerSum, edits: Sequence[EditRow]) -> LayerGroup:
    own = tuple(edit for edit in edits if (edit.layer, edit.action) == (layer.layer, layer.action))
    left = layer.edits - len(own)
    narrowed = LedgerFilters(**(asdict(filters) | {"layer": layer.layer, "action": layer.action, "compaction": row.ordinal}))
    return LayerGroup(
        layer=layer,
        edits=own,
        more=_edits_address(lane, narrowed, sort, len(own)) if left else None,
        left=left,
        left_tokens=layer.tokens_before - sum(edit.tokens_before for edit in own),
        target=f"more-{row.ordinal}-{layer.action}-{row.ordinal if not own else own[0].ordinal}",
    )


def _choices(lane: Lane, filters: LedgerFilters, sort: str, layers: Sequence[str]) -> tuple[Choice, ...]:
    names = {*layers, filters.layer} - {""}
    kinds = tuple((kind, kind.replace("_", " ")) for kind in BLOCK_KINDS)
    actions = tuple((name, action.word) for name, action in ACTIONS.items())
    tools = same(name for name in tool_names(revision=lane.revision) if name)
    return (
        Choice(name="layer", label="layer", value=filters.layer, options=tuple((name, name.replace("_", " ")) for name in sorted(names))),
        Choice(name="action", label="action", value=filters.action, options=actions),
        Choice(name="kind", label="kind", value=filters.kind, options=kinds),
        Choice(name="tool", label="tool", value=filters.tool, options=tools),
        Choice(name="path", label="path holds", value=filters.path, options=None),
        Choice(name="sort", label="order", value=sort, options=SORT_WORDS, any=""),
    )
