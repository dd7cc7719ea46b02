"""Which layer removed what: the compactions of a history with their balance, and the edits of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime

from django.db.models import Count, Exists, F, Min, OrderBy, OuterRef, Q, QuerySet, Sum, Window
from django.db.models.functions import RowNumber

from ctxweb.layer_runs import LayerRun, runs_from_json
from ctxweb.models import AddedBlock, Block, Compaction, LedgerEntry, Message
from ctxweb.queries.blocks import lane_blocks, lane_messages
from ctxweb.queries.lives import LifeSpan, lives
from ctxweb.queries.messages import words
from ctxweb.queries.readable import Lane

SORTS = {
    # value of the parameter: order of the edits of a layer
    "-tokens": "-tokens_before",
    "tokens": "tokens_before",
    "order": "ordinal",
}
INFERRED = "inferred"  # the action that stands for a drop without a record
FIRST_EDITS = 6  # of a layer of a compaction; the rest is fetched


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerFilters:
    """An empty field keeps everything. `compaction` is an ordinal, `path` a part of a file's path."""

    layer: str = ""
    action: str = ""
    kind: str = ""
    tool: str = ""
    path: str = ""
    compaction: int | None = None

    def any(self) -> bool:
        return any(value for value in asdict(self).values())

    def about_edits(self) -> bool:
        """Whether a compaction without a matching edit is left out."""
        return any((self.layer, self.action, self.kind, self.tool, self.path))

    def only_drops(self) -> bool:
        """Whether inferred drops are asked for: they have no edits, so nothing else about an edit can be asked of them."""
        return self == LedgerFilters(action=INFERRED, compaction=self.compaction)


EVERYTHING = LedgerFilters()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """The reported sizes around a compaction, with what moved between them, in tokens.

    before + entered − removed + added + change = after, exactly; `entered` is what else came between the two calls, and
    `change` the change in unexplained tokens. `together` compactions lie between them, and the figures are those of all.
    """

    before: int
    entered: int
    removed: int
    added: int
    change: int
    after: int
    together: int

    @property
    def change_share(self) -> float:
        """|change| in percent of the size before."""
        return 100 * abs(self.change) / self.before if self.before else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRow:
    """One compaction; `key` finds its edits. `tokens_*` is what its record says on the scale `scale`; the estimates balance:
    estimate_before − removed + added = estimate_after. None is unknown. A replayed one also has the view's size in the
    policy's own unit and in exact tokens, and a run a layer."""

    key: int
    ordinal: int
    index: int | None
    before_call: int | None
    line: int
    origin: str
    mechanism: str
    layer: str
    trigger: str
    status: str
    scale: str
    at: datetime | None
    detached: bool
    tokens_before: int | None
    tokens_after: int | None
    estimate_before: int
    removed: int
    added: int
    estimate_after: int
    reported: Reported | None
    edits: int
    never_sent: int
    evidence: dict[str, int | str | None]
    flags: tuple[str, ...]
    own_before: int | None
    own_after: int | None
    exact_before: int | None
    exact_after: int | None
    reports: tuple[LayerRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRow:
    """One edit of one block; `tokens_*` are estimates. An edit that `adds` put the block into the view. Of a replayed one `own_*`
    are in the policy's unit, `exact_*` exact tokens, and `pointer` leads to a text that was spilled."""

    ordinal: int
    compaction: int
    action: str
    layer: str
    adds: bool
    block: str
    kind: str
    tool_name: str
    path: str
    excerpt: str
    state_before: str
    state_after: str
    tokens_before: int
    tokens_after: int
    own_before: int | None
    own_after: int | None
    exact_before: int | None
    exact_after: int | None
    pointer: str
    never_sent: bool
    role: str
    origin: str
    first_call: int | None
    last_call: int | None
    end: str
    life: tuple[LifeSpan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditWindow:
    """`matching` of the `total` edits of a history; `next` is the ordinal to go on after, None at the end."""

    total: int
    matching: int
    edits: tuple[EditRow, ...]
    next: str | None


def compaction_rows(*, lane: Lane, after: int = 0, limit: int | None = None, filters: LedgerFilters = EVERYTHING) -> list[CompactionRow]:
    """The compactions behind the ordinal `after`, in file order; those that `filters` leave nothing of are left out."""
    rows = _matching_compactions(lane, filters).filter(ordinal__gt=after).order_by("ordinal")
    window = list(rows[:limit] if limit else rows)
    places = _places(lane, [row.before_call for row in window])
    return [_compaction_row(row, places) for row in window]


def drop_count(*, lane: Lane, filters: LedgerFilters) -> int:
    """How many inferred drops `filters` leave, where they ask for these."""
    return _matching_compactions(lane, filters).count()


def _matching_compactions(lane: Lane, filters: LedgerFilters) -> QuerySet[Compaction]:
    rows = Compaction.objects.filter(history=lane.history)
    if filters.compaction is not None:
        rows = rows.filter(ordinal=filters.compaction)
    if filters.only_drops():
        return rows.filter(origin=INFERRED)
    return rows.filter(pk__in=matching_edits(lane=lane, filters=filters).values("compaction")) if filters.about_edits() else rows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """All compactions between the same two calls; the reported sizes stand at the first of them."""

    first: int
    together: int
    removed: int
    added: int
    entered: int


def _places(lane: Lane, calls: Iterable[int | None]) -> dict[int, _Place]:
    rows = Compaction.objects.filter(history=lane.history, before_call__in={call for call in calls if call is not None})
    sums = (
        rows.order_by("before_call")
        .values("before_call")
        .annotate(first=Min("ordinal"), together=Count("pk"), removed=Sum("removed"), added=Sum("added"), entered=Sum("entered"))
    )
    return {
        row["before_call"]: _Place(
            first=row["first"], together=row["together"], removed=row["removed"], added=row["added"], entered=row["entered"]
        )
        for row in sums
        if row["before_call"] is not None
    }


def _compaction_row(row: Compaction, places: Mapping[int, _Place]) -> CompactionRow:
    copied = {field.name: getattr(row, field.name) for field in fields(CompactionRow) if field.name not in _MADE}
    place = places.get(row.before_call or 0)
    reported = _reported(row, place) if place is not None and place.first == row.ordinal else None
    return CompactionRow(**copied, key=row.pk, reported=reported, flags=words(row.flags), reports=runs_from_json(row.reports))


_MADE = ("key", "reported", "flags", "reports")


def _reported(row: Compaction, place: _Place) -> Reported | None:
    """None where a size is unknown."""
    before, after, unexplained_before, unexplained_after = (
        row.reported_before, row.reported_after, row.unexplained_before, row.unexplained_after
    )  # fmt: skip
    if before is None or after is None or unexplained_before is None or unexplained_after is None:
        return None
    return Reported(
        before=before,
        entered=place.entered,
        removed=place.removed,
        added=place.added,
        change=unexplained_after - unexplained_before,
        after=after,
        together=place.together,
    )


def matching_edits(*, lane: Lane, filters: LedgerFilters, compactions: Sequence[int] | None = None) -> QuerySet[LedgerEntry]:
    """The edits that took or changed something, kept by `filters`; of `compactions` (by key) of the history, or of all."""
    place = Q(history=lane.history) if compactions is None else Q(compaction__in=compactions)
    edits = LedgerEntry.objects.filter(place, adds=False)
    wanted = {"layer": filters.layer, "verb": filters.action, "compaction__ordinal": filters.compaction}
    edits = edits.filter(**{name: value for name, value in wanted.items() if value})
    about = Q(kind=filters.kind) if filters.kind else Q()
    about &= ~Q(tool_name="") & Q(tool_name=filters.tool) if filters.tool else Q()
    about &= ~Q(path="") & Q(path__icontains=filters.path) if filters.path else Q()
    if about:
        blocks = Block.objects.filter(about, revision=lane.revision)
        # the first condition follows from the second, and lets the database begin with the blocks where these are few
        logged = Q(Exists(blocks.filter(seq=OuterRef("seq"), i=OuterRef("i"))), seq__in=blocks.values("seq"))
        edits = edits.filter(logged | _put_in(lane, about) if lane.is_replayed else logged)
    return edits


def _put_in(lane: Lane, about: Q) -> Q:
    """Edits of blocks that a replay put in itself."""
    return Q(Exists(AddedBlock.objects.filter(about, history=lane.history, seq=OuterRef("seq"), i=OuterRef("i"))))


def edit_window(*, lane: Lane, filters: LedgerFilters, after: int, limit: int, adds: bool = False) -> EditWindow:
    """The first `limit` matching edits behind the ordinal `after`, in order; with `adds` also what was put in."""
    edits = matching_edits(lane=lane, filters=filters)
    if adds:
        edits = edits | LedgerEntry.objects.filter(pk__in=_additions(lane, filters))
    window = list(edits.filter(ordinal__gt=after).select_related("compaction").order_by("ordinal")[: limit + 1])
    shown = window[:limit]
    return EditWindow(
        total=LedgerEntry.objects.filter(history=lane.history, adds=False).count(),
        matching=edits.count(),
        edits=edit_rows(lane=lane, entries=shown),
        next=str(shown[-1].ordinal) if len(window) > limit else None,
    )


def _additions(lane: Lane, filters: LedgerFilters) -> QuerySet[LedgerEntry]:
    wanted = {"layer": filters.layer, "verb": filters.action, "compaction__ordinal": filters.compaction}
    entries = LedgerEntry.objects.filter(history=lane.history, adds=True)
    return entries.filter(**{name: value for name, value in wanted.items() if value})


def edit_rows(*, lane: Lane, entries: Iterable[LedgerEntry]) -> tuple[EditRow, ...]:
    """`entries` with their blocks, in the given order."""
    entries = list(entries)
    seqs = {entry.seq for entry in entries}
    blocks, messages = lane_blocks(lane=lane, seqs=seqs), lane_messages(lane=lane, seqs=seqs)
    spans = lives(lane=lane, places=[(entry.seq, entry.i) for entry in entries])
    return tuple(
        _edit_row(entry, blocks[entry.seq, entry.i], messages[entry.seq], spans.get((entry.seq, entry.i), ())) for entry in entries
    )


def _edit_row(entry: LedgerEntry, block: Block, message: Message, life: tuple[LifeSpan, ...]) -> EditRow:
    return EditRow(
        ordinal=entry.ordinal,
        compaction=entry.compaction.ordinal,
        action=entry.verb,
        layer=entry.layer,
        adds=entry.adds,
        block=f"{entry.seq}.{entry.i}",
        kind=block.kind,
        tool_name=block.tool_name,
        path=block.path,
        excerpt=block.excerpt,
        state_before=entry.state_before,
        state_after=entry.state_after,
        tokens_before=entry.tokens_before,
        tokens_after=entry.tokens_after,
        own_before=entry.own_before,
        own_after=entry.own_after,
        exact_before=entry.exact_before,
        exact_after=entry.exact_after,
        pointer=entry.pointer,
        never_sent=entry.never_sent,
        role=message.role,
        origin=message.origin,
        first_call=block.first_call,
        last_call=block.last_call,
        end=block.end,
        life=life,
    )


def first_edits(*, lane: Lane, filters: LedgerFilters, sort: str, compactions: Sequence[int]) -> tuple[EditRow, ...]:
    """The first `FIRST_EDITS` matching edits of each layer of each of `compactions` (by key), by compaction and layer."""
    place = Window(RowNumber(), partition_by=[F("compaction_id"), F("layer"), F("verb")], order_by=[_order(sort), F("ordinal").asc()])
    edits = matching_edits(lane=lane, filters=filters, compactions=compactions)
    shown = edits.annotate(place=place).filter(place__lte=FIRST_EDITS).select_related("compaction")
    return edit_rows(lane=lane, entries=shown.order_by("compaction__ordinal", "layer", "verb", "place"))


def layer_edits(*, lane: Lane, filters: LedgerFilters, sort: str, after: int, limit: int) -> EditWindow:
    """The matching edits behind the first `after`, in the order of `sort`; `next` is how many to leave out then."""
    edits = matching_edits(lane=lane, filters=filters).select_related("compaction").order_by(_order(sort), "ordinal")
    window = list(edits[after : after + limit + 1])
    return EditWindow(
        total=LedgerEntry.objects.filter(history=lane.history, adds=False).count(),
        matching=edits.count(),
        edits=edit_rows(lane=lane, entries=window[:limit]),
        next=str(after + limit) if len(window) > limit else None,
    )


def _order(sort: str) -> OrderBy:
    name = SORTS.get(sort, SORTS["-tokens"])
    return F(name.removeprefix("-")).desc() if name.startswith("-") else F(name).asc()
