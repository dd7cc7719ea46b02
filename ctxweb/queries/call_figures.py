"""The figures of one call, made or not: the call after the last one is what the next call would get."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Sum
from django.http import Http404

from compaction.messages import BLOCK_KINDS
from ctxweb.models import Block, Message, ModelCall, Span
from ctxweb.queries.readable import Lane
from ctxweb.queries.readout import view_kinds
from ctxweb.vocabulary import kind_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFigures:
    """One call. `prompt_tokens` is reported, `estimate` that of its view, `unexplained` their difference; None is unknown.

    `is_next` marks the call that was never made: what it would have got.
    """

    n: int
    is_next: bool
    at: datetime | None
    model: str
    line: int | None
    seq: int | None
    previous: int | None
    abandoned: bool
    inherited: bool
    prompt_tokens: int | None
    cache_read_tokens: int | None
    estimate: int
    blocks: int
    kinds: tuple[int, ...]
    fidelity: str
    unexplained: int | None
    epoch_anchor: int | None


def call_figures(*, lane: Lane, n: int) -> CallFigures:
    """Call `n`, or the one after the last: what the next call would get. Raises Http404."""
    call = ModelCall.objects.filter(revision=lane.revision, n=n).first()
    if lane.is_replayed and (call is not None or n == lane.session.call_count + 1):
        return _replayed_call(lane, n, call)
    if call is not None:
        return CallFigures(
            **{name: getattr(call, name) for name in _COPIED},
            is_next=False,
            estimate=call.estimate or 0,
            blocks=call.block_count,
            kinds=tuple(call.kinds),
        )
    if n != lane.session.call_count + 1:
        raise Http404
    return _next_call(lane, n)


def _replayed_call(lane: Lane, n: int, call: ModelCall | None) -> CallFigures:
    """The call as it would have been: what the provider reported was another prompt."""
    kinds = view_kinds(lane.history, n)
    for kind, tokens in waiting_blocks(lane).values_list("kind", "estimate") if call is None else ():
        blocks, sum_of = kinds.get(kind, (0, 0))
        kinds[kind] = (blocks + 1, sum_of + (tokens or 0))
    told: dict[str, Any] = {} if call is None else {name: getattr(call, name) for name in _COPIED}
    usual: dict[str, Any] = {"model": lane.session.model, "previous": n - 1 or None, "abandoned": False, "inherited": False}
    unknown = dict.fromkeys(("prompt_tokens", "cache_read_tokens", "unexplained", "epoch_anchor"))
    copied: dict[str, Any] = dict.fromkeys(_COPIED) | {"fidelity": "derived"} | usual | told | unknown | {"n": n}
    return CallFigures(
        **copied,
        is_next=call is None,
        estimate=sum(tokens for _, tokens in kinds.values()),
        blocks=sum(blocks for blocks, _ in kinds.values()),
        kinds=tuple(kinds.get(kind, (0, 0))[1] for kind in BLOCK_KINDS),
    )


_COPIED = {field.name for field in fields(CallFigures)} - {"is_next", "estimate", "blocks", "kinds"}


def _next_call(lane: Lane, n: int) -> CallFigures:
    sums = dict.fromkeys(BLOCK_KINDS, 0)
    spans, waiting = visible_at(lane, n), waiting_blocks(lane)
    total = spans.aggregate(blocks=Count("pk"), estimate=Sum("estimate"))
    more = waiting.aggregate(blocks=Count("pk"), estimate=Sum("estimate"))
    for kind in BLOCK_KINDS:
        blocks = Block.objects.filter(revision=lane.revision, seq=OuterRef("seq"), i=OuterRef("i"), kind=kind)
        for rows in (spans.filter(Exists(blocks)), waiting.filter(kind=kind)):
            sums[kind] += rows.aggregate(total=Sum("estimate"))["total"] or 0
    last = ModelCall.objects.filter(revision=lane.revision, n=n - 1).first()
    unknown = dict.fromkeys(("at", "line", "seq", "prompt_tokens", "cache_read_tokens", "unexplained"))
    return CallFigures(
        **unknown,
        n=n,
        is_next=True,
        model=lane.session.model,
        previous=n - 1 or None,
        abandoned=False,
        inherited=False,
        estimate=(total["estimate"] or 0) + (more["estimate"] or 0),
        blocks=total["blocks"] + more["blocks"],
        kinds=tuple(sums.values()),
        fidelity=last.fidelity if last else "derived",
        epoch_anchor=last.epoch_anchor if last else None,
    )


def waiting_blocks(lane: Lane) -> QuerySet[Block]:
    """Blocks that stand at the end of the view and that no call has seen: the next one would get them, whatever the history."""
    return Block.objects.filter(revision=lane.revision, end="visible", first_call__isnull=True).order_by("seq", "i")


def waiting_sums(lane: Lane) -> dict[str, int]:
    """Estimates of the waiting blocks by colour class."""
    message = Message.objects.filter(revision=lane.revision, seq=OuterRef("seq"))
    rows = waiting_blocks(lane).annotate(role=Subquery(message.values("role")[:1]), origin=Subquery(message.values("origin")[:1]))
    sums: dict[str, int] = {}
    for row in rows.order_by().values("kind", "role", "origin").annotate(tokens=Sum("estimate")):
        name = kind_of(kind=row["kind"], role=row["role"], origin=row["origin"])
        sums[name] = sums.get(name, 0) + (row["tokens"] or 0)
    return sums


def visible_at(lane: Lane, n: int) -> QuerySet[Span]:
    """The spans of the prompt of call `n`, in its order."""
    return Span.objects.filter(history=lane.history, from_call__lte=n, to_call__gt=n).order_by("position", "pk")
