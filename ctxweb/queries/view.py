"""The prompt of model call n: its blocks in order, and what became of those of another call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, Sum
from django.db.models.functions import Substr

from ctxweb.models import Block, Body, Finding, Message, Span
from ctxweb.queries.blocks import lane_blocks, lane_messages
from ctxweb.queries.call_figures import CallFigures, call_figures, visible_at, waiting_blocks
from ctxweb.queries.difference import Difference, difference
from ctxweb.queries.hidden import Hidden, hidden_tokens
from ctxweb.queries.readable import Lane

EXCERPT = 200
WAITING = 2.0**40  # positions of blocks that wait for the next call; those of a view are far below


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


def call_view(*, lane: Lane, n: int, against: int | None, after: float | None, limit: int) -> CallView:
    """The first `limit` blocks of call `n` behind the position `after`, compared with call `against`. Raises Http404."""
    call = call_figures(lane=lane, n=n)
    other = call_figures(lane=lane, n=against) if against else None
    found = difference(lane=lane, n=n, against=other.n) if other else None
    spans = visible_at(lane, n)
    window = list((spans.filter(position__gt=after) if after is not None else spans)[: limit + 1])
    if call.is_next and len(window) <= limit:
        window += _waiting_spans(lane, n, after, limit + 1 - len(window))
    shown = window[:limit]
    return CallView(
        call=call,
        against=other,
        hidden=hidden_tokens(revision=lane.revision, call=call),
        change=_change(lane, call, found) if found else None,
        blocks=_view_blocks(lane, call, found, shown),
        next=repr(shown[-1].position) if len(window) > limit else None,
    )


def _change(lane: Lane, call: CallFigures, found: Difference) -> Change:
    new = waiting_blocks(lane).order_by().aggregate(blocks=Count("pk"), tokens=Sum("estimate")) if call.is_next else {}
    added = len(found.added) + new.get("blocks", 0)
    return Change(
        added=added,
        added_tokens=found.added_tokens + (new.get("tokens") or 0),
        changed=len(found.changed),
        unchanged=call.blocks - added - len(found.changed),
        left=len(found.left),
        left_tokens=found.left_tokens,
    )


def _view_blocks(lane: Lane, call: CallFigures, found: Difference | None, spans: Sequence[Span]) -> tuple[ViewBlock, ...]:
    logged = logged_blocks(lane, spans)
    seqs = {span.seq for span in spans}
    messages = lane_messages(lane=lane, seqs=seqs)
    findings = _findings(lane, seqs)
    texts = state_excerpts(spans, logged)
    size = call.prompt_tokens if call.prompt_tokens is not None else call.estimate
    return tuple(
        view_block(
            span,
            logged[span.seq, span.i],
            messages[span.seq],
            size=size,
            since=found.since(span.pk) if found else "",
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


def logged_blocks(lane: Lane, spans: Iterable[Span]) -> dict[tuple[int, int], Block]:
    """The blocks as logged, or as a replay put them in, by place."""
    return lane_blocks(lane=lane, seqs={span.seq for span in spans})


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
