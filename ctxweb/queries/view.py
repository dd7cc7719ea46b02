"""The prompt of model call n: its blocks in order, and what became of those of another call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Substr
from django.http import Http404

from compaction.messages import BLOCK_KINDS
from ctxweb.models import Block, Body, Finding, Message, ModelCall, Span
from ctxweb.queries.hidden import Hidden, hidden_tokens
from ctxweb.queries.readable import Lane

EXCERPT = 200
WAITING = 2.0**40  # positions of blocks that wait for the next call; those of a view are far below


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewBlock:
    """A block as the prompt held it. `estimate` is the cost of its present state; `tokens` counts what was logged.
    `body` is None where the source does not tell the text of that state.

    `since` compares with the other call: `added`, `changed` or `unchanged`, empty without one.
    """

    block: str
    position: float
    kind: str
    role: str
    origin: str
    label: str
    state: str
    tokens: int | None
    estimate: int
    share: float | None
    since: str
    from_call: int
    to_call: int | None
    tool_id: str
    tool_name: str
    path: str
    is_error: bool
    findings: tuple[str, ...]
    excerpt: str
    body: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How the view differs from that of the other call: blocks and estimated tokens."""

    added: int
    added_tokens: int
    changed: int
    unchanged: int
    left: int
    left_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallView:
    """The prompt of a call in windows; `next` is the position to go on after, None at the end."""

    call: CallFigures
    against: CallFigures | None
    hidden: Hidden
    change: Change | None
    blocks: tuple[ViewBlock, ...]
    next: str | None


def call_figures(*, lane: Lane, n: int) -> CallFigures:
    """Call `n`, or the one after the last: what the next call would get. Raises Http404."""
    call = ModelCall.objects.filter(revision=lane.revision, n=n).first()
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
    """Blocks that stand at the end of the view and that no call has seen: the next one would get them."""
    return Block.objects.filter(revision=lane.revision, end="visible", first_call__isnull=True).order_by("seq", "i")


def _waiting_spans(lane: Lane, n: int, after: float | None, limit: int) -> list[Span]:
    """The waiting blocks as spans that begin with call `n`, behind all others."""
    left_out = max(0, round(after - WAITING)) if after is not None else 0
    rows = waiting_blocks(lane).select_related("body").defer("body__text")[left_out : left_out + limit]
    return [
        Span(
            seq=block.seq,
            i=block.i,
            state=block.state,
            from_call=n,
            position=WAITING + place,
            estimate=block.estimate or 0,
            body=block.body.digest,
        )
        for place, block in enumerate(rows, start=left_out + 1)
    ]


def visible_at(lane: Lane, n: int) -> QuerySet[Span]:
    """The spans of the prompt of call `n`, in its order."""
    return Span.objects.filter(history=lane.history, from_call__lte=n, to_call__gt=n).order_by("position", "pk")


def in_another_state(lane: Lane, spans: QuerySet[Span], m: int) -> QuerySet[Span]:
    """Those of `spans` that the prompt of call `m` did not hold in the same state."""
    same = visible_at(lane, m).filter(seq=OuterRef("seq"), i=OuterRef("i"), state=OuterRef("state"), estimate=OuterRef("estimate"))
    return spans.exclude(from_call__lte=m, to_call__gt=m).filter(~Exists(same.order_by()))


def absent_at(lane: Lane, spans: QuerySet[Span], m: int) -> QuerySet[Span]:
    """Those of `spans` whose block was not in the prompt of call `m` in any state."""
    other = visible_at(lane, m).filter(seq=OuterRef("seq"), i=OuterRef("i"))
    return spans.exclude(from_call__lte=m, to_call__gt=m).filter(~Exists(other.order_by()))


def call_view(*, lane: Lane, n: int, against: int | None, after: float | None, limit: int) -> CallView:
    """The first `limit` blocks of call `n` behind the position `after`, compared with call `against`. Raises Http404."""
    call = call_figures(lane=lane, n=n)
    other = call_figures(lane=lane, n=against) if against else None
    spans = visible_at(lane, n)
    window = list((spans.filter(position__gt=after) if after is not None else spans)[: limit + 1])
    if call.is_next and len(window) <= limit:
        window += _waiting_spans(lane, n, after, limit + 1 - len(window))
    shown = window[:limit]
    return CallView(
        call=call,
        against=other,
        hidden=hidden_tokens(revision=lane.revision, call=call),
        change=_change(lane, call, other) if other else None,
        blocks=_view_blocks(lane, call, other, shown),
        next=repr(shown[-1].position) if len(window) > limit else None,
    )


def _change(lane: Lane, call: CallFigures, other: CallFigures) -> Change:
    here, there = visible_at(lane, call.n), visible_at(lane, other.n)
    added = absent_at(lane, here, other.n).aggregate(blocks=Count("pk"), tokens=Sum("estimate"))
    left = absent_at(lane, there, call.n).aggregate(blocks=Count("pk"), tokens=Sum("estimate"))
    differing = in_another_state(lane, here, other.n).aggregate(blocks=Count("pk"))["blocks"]
    new = waiting_blocks(lane).order_by().aggregate(blocks=Count("pk"), tokens=Sum("estimate")) if call.is_next else _NONE
    return Change(
        added=added["blocks"] + new["blocks"],
        added_tokens=(added["tokens"] or 0) + (new["tokens"] or 0),
        changed=differing - added["blocks"],
        unchanged=call.blocks - differing - new["blocks"],
        left=left["blocks"],
        left_tokens=left["tokens"] or 0,
    )


_NONE = {"blocks": 0, "tokens": 0}


def _view_blocks(lane: Lane, call: CallFigures, other: CallFigures | None, spans: Sequence[Span]) -> tuple[ViewBlock, ...]:
    differing = _differing(lane, spans, other)
    logged = logged_blocks(lane, spans)
    seqs = {span.seq for span in spans}
    messages = {message.seq: message for message in Message.objects.filter(revision=lane.revision, seq__in=seqs)}
    findings = _findings(lane, seqs)
    texts = state_excerpts(spans, logged)
    size = call.prompt_tokens if call.prompt_tokens is not None else call.estimate
    return tuple(
        view_block(
            span,
            logged[span.seq, span.i],
            messages[span.seq],
            size=size,
            since=(differing.get(span.pk, "unchanged") if span.pk else "added") if other else "",
            text=texts.get(bytes(span.body or b"")),
            findings=findings.get(span.seq, ()),
        )
        for span in spans
    )


def view_block(
    span: Span, block: Block, message: Message, *, size: int, since: str, text: str | None, findings: Sequence[str] = ()
) -> ViewBlock:
    """`span` as a row; `size` is that of the prompt in tokens, `text` the beginning of its state's own text."""
    return ViewBlock(
        block=f"{span.seq}.{span.i}",
        position=span.position,
        kind=block.kind,
        role=message.role,
        origin=message.origin,
        label=message.label,
        state=span.state,
        tokens=block.tokens,
        estimate=span.estimate,
        share=100 * span.estimate / size if size else None,
        since=since,
        from_call=span.from_call,
        to_call=None if span.to_call == Span.STILL_VISIBLE else span.to_call,
        tool_id=block.tool_id,
        tool_name=block.tool_name,
        path=block.path,
        is_error=block.is_error,
        findings=tuple(findings),
        excerpt=_excerpt(span, block, text),
        body=bytes(span.body).hex() if span.body else None,
    )


def _excerpt(span: Span, block: Block, text: str | None) -> str:
    if text is not None:
        return text
    return block.excerpt if span.body or span.state == block.state else ""


def _differing(lane: Lane, spans: Sequence[Span], other: CallFigures | None) -> dict[int, str]:
    """`added` or `changed` for those of `spans` that the other call did not hold as they are."""
    if other is None:
        return {}
    own = Span.objects.filter(pk__in=[span.pk for span in spans if span.pk])
    differing = dict.fromkeys(in_another_state(lane, own, other.n).values_list("pk", flat=True), "changed")
    return differing | dict.fromkeys(absent_at(lane, own, other.n).values_list("pk", flat=True), "added")


def logged_blocks(lane: Lane, spans: Iterable[Span]) -> dict[tuple[int, int], Block]:
    """The blocks as logged, by place."""
    seqs = {span.seq for span in spans}
    blocks = Block.objects.filter(revision=lane.revision, seq__in=seqs).select_related("body").defer("body__text")
    return {(block.seq, block.i): block for block in blocks}


def state_excerpts(spans: Iterable[Span], logged: dict[tuple[int, int], Block]) -> dict[bytes, str]:
    """First line of the texts that edits gave to blocks, by digest."""
    digests = {bytes(span.body) for span in spans if span.body and bytes(span.body) != bytes(logged[span.seq, span.i].body.digest)}
    texts = Body.objects.filter(digest__in=digests).annotate(head=Substr("text", 1, EXCERPT)).values_list("digest", "head")
    return {bytes(digest): " ".join(head.split()) for digest, head in texts}


def _findings(lane: Lane, seqs: set[int]) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    for seq, code in Finding.objects.filter(Q(seq__in=seqs), revision=lane.revision).order_by("ordinal").values_list("seq", "code"):
        found[seq or 0] = (*found.get(seq or 0, ()), code)
    return found


def view_findings(*, lane: Lane, n: int) -> dict[str, int]:
    """How many findings of each code are about messages of the prompt of call `n`."""
    seqs = visible_at(lane, n).order_by().values("seq")
    rows = Finding.objects.filter(revision=lane.revision, seq__in=seqs).values("code").annotate(count=Count("pk")).order_by("code")
    return {row["code"]: row["count"] for row in rows}
