"""The readout of one call: its size by category and its largest blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from ctxweb.lane_rows import base_name
from ctxweb.models import AddedBlock, Block, History, Message, ModelCall, Span
from ctxweb.vocabulary import KIND_WORDS, KINDS, kind_of

LARGEST = 4
LEAST_SHARE = 0.001  # of the prompt; a smaller surplus of the estimates is not worth a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """`share` is that of the whole call, 0…1."""

    name: str
    word: str
    tokens: int
    share: float | None
    is_estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeBlock:
    seq: int
    i: int
    kind: str
    name: str
    state: str
    estimate: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Readout:
    """`reported` is the provider's figure, None unknown; then `total` is the estimate of the view.

    `fresh` was neither read from nor written to a cache; with `cache_read` and `cache_write` it makes the reported size.
    """

    call: int
    at: datetime | None
    model: str
    abandoned: bool
    fidelity: str
    reported: int | None
    total: int
    window: int | None
    cached_share: float | None
    output: int | None
    fresh: int | None
    cache_read: int | None
    cache_write: int | None
    categories: tuple[Category, ...]
    largest: tuple[LargeBlock, ...]
    previous: int | None
    earlier: int | None
    later: int | None
    earlier_drop: int | None
    later_drop: int | None
    over: int

    @property
    def window_share(self) -> float | None:
        return self.total / self.window if self.window else None


def hidden_overhead(*, revision_id: int) -> int | None:
    """Tokens of the first reported call that no record shows: system prompt, tools, or what came before the file."""
    first = (
        ModelCall.objects.filter(revision_id=revision_id, prompt_tokens__isnull=False)
        .order_by("n")
        .values_list("prompt_tokens", "estimate")
        .first()
    )
    return None if first is None else max((first[0] or 0) - (first[1] or 0), 0)


def readout(*, history: History, n: int, calls: int, window: int | None, overhead: int | None, drops: Sequence[int]) -> Readout | None:
    """The readout of call `n`, None if there is no such call. `drops` are the calls before which something left, in order."""
    call = ModelCall.objects.filter(revision_id=history.revision_id, n=n).first()
    if call is None:
        return None
    sums = view_sums(history, n)
    total = call.prompt_tokens if call.prompt_tokens is not None else sum(sums.values()) + (overhead or 0)
    return Readout(
        call=n,
        at=call.at,
        model=call.model,
        abandoned=call.abandoned,
        fidelity=call.fidelity,
        reported=call.prompt_tokens,
        total=total,
        window=call.context_window or window,
        cached_share=call.cache_read_tokens / total if total and call.cache_read_tokens is not None else None,
        output=call.output_tokens if call.output_reliable else None,
        fresh=call.input_tokens,
        cache_read=call.cache_read_tokens,
        cache_write=call.cache_write_tokens,
        categories=_categories(sums, reported=call.prompt_tokens, total=total, overhead=overhead or 0),
        largest=_largest(history, n),
        previous=call.previous,
        earlier=n - 1 if n > 1 else None,
        later=n + 1 if n < calls else None,
        earlier_drop=max((drop for drop in drops if drop < n), default=None),
        later_drop=min((drop for drop in drops if drop > n), default=None),
        over=_over(sum(sums.values()) + (overhead or 0) - total, total=total),
    )


def _over(surplus: int, *, total: int) -> int:
    """Estimated tokens beyond the reported size, 0 below `LEAST_SHARE` of it."""
    return surplus if surplus > 0 and surplus >= LEAST_SHARE * total else 0


def _view(history: History, n: int) -> QuerySet[Any]:
    """The spans of the view, annotated with the kind of their block, and role and origin of its message."""
    block = Block.objects.filter(revision_id=history.revision_id, seq=OuterRef("seq"), i=OuterRef("i"))
    message = Message.objects.filter(revision_id=history.revision_id, seq=OuterRef("seq"))
    found: dict[str, Any] = {
        "kind": Subquery(block.values("kind")[:1]),
        "role": Subquery(message.values("role")[:1]),
        "origin": Subquery(message.values("origin")[:1]),
    }
    if history.origin == "replayed":
        added = AddedBlock.objects.filter(history=history, seq=OuterRef("seq"), i=OuterRef("i"))
        found = {name: Coalesce(logged, Subquery(added.values(name)[:1])) for name, logged in found.items()}
    return Span.objects.filter(history=history, from_call__lte=n, to_call__gt=n).annotate(**found)


def view_sums(history: History, n: int) -> dict[str, int]:
    """Estimates of the view by colour class."""
    sums: dict[str, int] = {}
    for row in _view(history, n).order_by().values("kind", "role", "origin").annotate(tokens=Sum("estimate")):
        name = kind_of(kind=row["kind"], role=row["role"], origin=row["origin"])
        sums[name] = sums.get(name, 0) + row["tokens"]
    return sums


def view_kinds(history: History, n: int) -> dict[str, tuple[int, int]]:
    """Blocks and estimate of the view by block kind."""
    rows = _view(history, n).order_by().values("kind").annotate(blocks=Count("pk"), tokens=Sum("estimate"))
    return {row["kind"]: (row["blocks"], row["tokens"]) for row in rows}


def _categories(sums: dict[str, int], *, reported: int | None, total: int, overhead: int) -> tuple[Category, ...]:
    """From the top of the map downwards; `unexplained` is what the report has beyond the rest, or lacks."""
    rows = []
    if reported is not None:
        rest = reported - overhead - sum(sums.values())
        rows.append(Category(name="unexplained", word="unexplained", tokens=rest, share=rest / total if total else None, is_estimate=False))
    for kind in reversed(KINDS):
        tokens = sums.get(kind.name, 0) + (overhead if kind.name == "overhead" else 0)
        if tokens:
            rows.append(Category(name=kind.name, word=kind.word, tokens=tokens, share=tokens / total if total else None, is_estimate=True))
    return tuple(rows)


def _largest(history: History, n: int) -> tuple[LargeBlock, ...]:
    spans = list(
        _view(history, n).order_by("-estimate", "seq")[:LARGEST].values_list("seq", "i", "kind", "role", "origin", "state", "estimate")
    )
    names = names_of(revision_id=history.revision_id, places=[(seq, i) for seq, i, *_ in spans])
    large = []
    for seq, i, kind, role, origin, state, estimate in spans:
        colour = kind_of(kind=kind, role=role, origin=origin)
        large.append(
            LargeBlock(seq=seq, i=i, kind=colour, name=names.get((seq, i)) or KIND_WORDS[colour].word, state=state, estimate=estimate)
        )
    return tuple(large)


def names_of(*, revision_id: int, places: Sequence[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """What a person would call a few blocks: file, else tool; a result by those of its use. Absent where neither is known."""
    seqs = {seq for seq, _ in places}
    rows = [
        row
        for row in Block.objects.filter(revision_id=revision_id, seq__in=seqs).values_list("seq", "i", "tool_id", "tool_name", "path")
        if (row[0], row[1]) in places
    ]
    ids = [tool_id for _, _, tool_id, _, _ in rows if tool_id]
    uses = {
        tool_id: base_name(path) or tool
        for tool_id, tool, path in Block.objects.filter(revision_id=revision_id, kind="tool_use", tool_id__in=ids).values_list(
            "tool_id", "tool_name", "path"
        )
    }
    return {(seq, i): name for seq, i, tool_id, tool, path in rows if (name := base_name(path) or uses.get(tool_id, "") or tool)}
