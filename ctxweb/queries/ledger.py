"""Which layer removed what: the compactions of a history with their balance, and the edits of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from ctxweb.models import Block, Compaction, LedgerEntry
from ctxweb.queries.messages import words
from ctxweb.queries.readable import Lane

SORTS = {
    # value of the parameter: order of the edits within a compaction
    "-tokens": ("-tokens_before", "ordinal"),
    "tokens": ("tokens_before", "ordinal"),
    "order": ("ordinal",),
}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """The reported sizes around a compaction, with what moved between them, in tokens.

    before + entered − removed + added + change = after, exactly; `entered` is what came between the two calls, and
    `change` the change in unexplained tokens.
    """

    before: int
    entered: int
    removed: int
    added: int
    change: int
    after: int

    @property
    def change_share(self) -> float:
        """|change| in percent of the size before."""
        return 100 * abs(self.change) / self.before if self.before else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRow:
    """One compaction. `tokens_*` is what its record says on the scale `scale`; the estimates balance:
    estimate_before − removed + added = estimate_after. None is unknown."""

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
    evidence: dict[str, int | str | bool | None]
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRow:
    """One edit of one block; `tokens_*` are estimates. An edit that `adds` put the block into the view."""

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
    never_sent: bool
    first_call: int | None
    last_call: int | None
    end: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerSum:
    """What one layer did in one compaction, or in all."""

    layer: str
    action: str
    edits: int
    tokens_before: int
    tokens_after: int
    never_sent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EditWindow:
    """`matching` of the `total` edits of a history; `next` is the ordinal to go on after, None at the end."""

    total: int
    matching: int
    edits: tuple[EditRow, ...]
    next: str | None


def compaction_rows(*, lane: Lane, after: int = 0, limit: int | None = None, only: int | None = None) -> list[CompactionRow]:
    """The compactions behind the ordinal `after`, in file order."""
    rows = Compaction.objects.filter(history=lane.history, ordinal__gt=after).order_by("ordinal")
    if only is not None:
        rows = rows.filter(ordinal=only)
    return [compaction_row(row) for row in (rows[:limit] if limit else rows)]


def compaction_row(row: Compaction) -> CompactionRow:
    copied = {field.name: getattr(row, field.name) for field in fields(CompactionRow) if field.name not in ("reported", "flags")}
    return CompactionRow(**copied, reported=_reported(row), flags=words(row.flags))


def _reported(row: Compaction) -> Reported | None:
    """None where a size is unknown, or where the sizes are not those of one path through the calls."""
    sizes = (row.reported_before, row.reported_after, row.unexplained_before, row.unexplained_after)
    before, after, unexplained_before, unexplained_after = sizes
    if before is None or after is None or unexplained_before is None or unexplained_after is None:
        return None
    return Reported(
        before=before,
        entered=row.entered,
        removed=row.removed,
        added=row.added,
        change=unexplained_after - unexplained_before,
        after=after,
    )


def matching_edits(*, lane: Lane, filters: LedgerFilters) -> QuerySet[LedgerEntry]:
    """The edits that took or changed something, kept by `filters`."""
    edits = LedgerEntry.objects.filter(history=lane.history, adds=False)
    wanted = {"layer": filters.layer, "verb": filters.action, "compaction__ordinal": filters.compaction}
    edits = edits.filter(**{name: value for name, value in wanted.items() if value})
    about = Q(kind=filters.kind) if filters.kind else Q()
    about &= Q(tool_name=filters.tool) if filters.tool else Q()
    about &= Q(path__icontains=filters.path) if filters.path else Q()
    if about:
        edits = edits.filter(Exists(Block.objects.filter(about, revision=lane.revision, seq=OuterRef("seq"), i=OuterRef("i"))))
    return edits


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


def layer_sums(*, lane: Lane, filters: LedgerFilters, compactions: Sequence[int] | None = None) -> dict[int, tuple[LayerSum, ...]]:
    """What each layer did, by ordinal of the compaction; only in `compactions` where they are given."""
    edits = matching_edits(lane=lane, filters=filters)
    if compactions is not None:
        edits = edits.filter(compaction__ordinal__in=compactions)
    grouped = edits.values("compaction__ordinal", "layer", "verb").annotate(
        edits=Count("pk"),
        before=Sum("tokens_before"),
        after=Sum("tokens_after"),
        unsent=Count("pk", filter=Q(never_sent=True)),
    )
    sums: dict[int, tuple[LayerSum, ...]] = {}
    for row in grouped.order_by("compaction__ordinal", "layer", "verb"):
        one = LayerSum(
            layer=row["layer"],
            action=row["verb"],
            edits=row["edits"],
            tokens_before=row["before"],
            tokens_after=row["after"],
            never_sent=row["unsent"],
        )
        sums[row["compaction__ordinal"]] = (*sums.get(row["compaction__ordinal"], ()), one)
    return sums


def edit_rows(*, lane: Lane, entries: Iterable[LedgerEntry]) -> tuple[EditRow, ...]:
    """`entries` with their blocks, in the given order."""
    entries = list(entries)
    found = Block.objects.filter(revision=lane.revision, seq__in={entry.seq for entry in entries})
    blocks = {(block.seq, block.i): block for block in found}
    return tuple(edit_row(entry, blocks[entry.seq, entry.i]) for entry in entries)


def edit_row(entry: LedgerEntry, block: Block) -> EditRow:
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
        never_sent=entry.never_sent,
        first_call=block.first_call,
        last_call=block.last_call,
        end=block.end,
    )
