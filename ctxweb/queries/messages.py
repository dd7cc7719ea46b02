"""Every message and block that a session's file held, in file order, in windows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from compaction.messages import BlockId
from ctxweb.models import Block, Finding, Message, ModelCall, Revision
from ctxweb.queries.lives import LifeSpan, lives
from ctxweb.queries.readable import Lane

TOOLS = 200  # names that a filter offers
LANES = {
    # value of the filter: what it keeps
    "path": Q(abandoned=False),
    "abandoned": Q(abandoned=True),
    "inherited": Q(inherited=True),
    "attached": ~Q(visible="yes"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilters:
    """An empty field keeps everything. `lane` is a key of `LANES`."""

    role: str = ""
    kind: str = ""
    tool: str = ""
    state: str = ""
    lane: str = ""

    def any(self) -> bool:
        return any(asdict(self).values())


@dataclass(frozen=True, slots=True, kw_only=True)
class CallUsage:
    """Tokens of the model call that produced a message, as the provider reported them; None is unknown."""

    n: int
    prompt_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRow:
    """One block. `tokens` is the count under the session's tokenizer, `estimate` its cost in a prompt, and `share` that
    cost in percent of the first prompt that held it. It was visible in the calls `first_call`…`last_call`."""

    block: str
    seq: int
    i: int
    kind: str
    state: str
    tokens: int | None
    exact: bool
    estimate: int | None
    share: float | None
    chars: int
    tool_id: str
    tool_name: str
    path: str
    pointer: str
    media_type: str
    media_bytes: int | None
    is_error: bool
    flags: tuple[str, ...]
    excerpt: str
    body: str
    first_call: int | None
    last_call: int | None
    end: str
    life: tuple[LifeSpan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRow:
    """One message with those of its blocks that are in the window. `records` lines of the file were folded into it."""

    seq: int
    role: str
    origin: str
    label: str
    line: int
    record: int
    records: int
    at: datetime | None
    model: str
    call: int | None
    usage: CallUsage | None
    visible: str
    inherited: bool
    abandoned: bool
    flags: tuple[str, ...]
    findings: tuple[str, ...]
    blocks: tuple[BlockRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesWindow:
    """A window of the blocks that match: `matching` of `total`. `next` is the place to go on after, None at the end."""

    tokenizer: str
    total: int
    matching: int
    messages: tuple[MessageRow, ...]
    next: str | None


def messages_window(*, lane: Lane, filters: MessageFilters, after: BlockId, limit: int) -> MessagesWindow:
    """The first `limit` blocks behind the place `after`, with their messages; a message without blocks takes a row."""
    revision = lane.revision
    blocks = _matching_blocks(revision, filters)
    bare = _bare_messages(revision, filters)
    places = [(block.seq, block.i, block) for block in _behind(blocks, after).select_related("body").defer("body__text")[: limit + 1]]
    bare = bare.filter(seq__gt=after.seq) if after.seq else bare
    bare = bare.filter(seq__lte=places[-1][0]) if len(places) > limit else bare
    empty = [(seq, 0, None) for seq in bare.order_by("seq").values_list("seq", flat=True)[: limit + 1]]
    window = sorted((*places, *empty), key=lambda place: place[:2])
    shown, more = window[:limit], len(window) > limit
    return MessagesWindow(
        tokenizer=lane.session.encoding,
        total=lane.session.block_count,
        matching=blocks.count() if filters.any() else lane.session.block_count,
        messages=_messages(lane, shown),
        next=f"{shown[-1][0]}.{shown[-1][1]}" if more else None,
    )


def tool_names(*, revision: Revision) -> list[str]:
    """Names of the tools that the session used, for the filter."""
    names = Block.objects.filter(~Q(tool_name=""), revision=revision).order_by("tool_name").values_list("tool_name", flat=True)
    return list(names.distinct()[:TOOLS])


def _behind(blocks: QuerySet[Block], after: BlockId) -> QuerySet[Block]:
    return blocks.filter(seq__gte=after.seq).exclude(seq=after.seq, i__lte=after.i).order_by("seq", "i")


def _message_conditions(filters: MessageFilters) -> Q:
    conditions = Q(role=filters.role) if filters.role else Q()
    return conditions & LANES[filters.lane] if filters.lane in LANES else conditions


def _matching_blocks(revision: Revision, filters: MessageFilters) -> QuerySet[Block]:
    blocks = Block.objects.filter(revision=revision)
    blocks = blocks.exclude(tool_name="") if filters.tool else blocks  # as the index has it
    wanted = {"kind": filters.kind, "tool_name": filters.tool, "state": filters.state}
    blocks = blocks.filter(**{name: value for name, value in wanted.items() if value})
    if filters.role or filters.lane:
        messages = Message.objects.filter(_message_conditions(filters), revision=revision)
        blocks = blocks.filter(seq__in=messages.values("seq"))
    return blocks


def _bare_messages(revision: Revision, filters: MessageFilters) -> QuerySet[Message]:
    """Messages that hold no block: they have no row of their own otherwise."""
    if filters.kind or filters.tool or filters.state:
        return Message.objects.none()
    blocks = Block.objects.filter(revision=revision, seq=OuterRef("seq"))
    return Message.objects.filter(_message_conditions(filters), ~Exists(blocks), revision=revision)


def _messages(lane: Lane, window: Sequence[tuple[int, int, Block | None]]) -> tuple[MessageRow, ...]:
    revision = lane.revision
    seqs = {place[0] for place in window}
    messages = list(Message.objects.filter(revision=revision, seq__in=seqs).order_by("seq"))
    blocks = [block for _, _, block in window if block is not None]
    calls = _calls(revision, messages, blocks)
    findings: dict[int, list[str]] = {}
    for seq, code in Finding.objects.filter(revision=revision, seq__in=seqs).order_by("ordinal").values_list("seq", "code")[:1_000]:
        findings.setdefault(seq or 0, []).append(code)
    spans = lives(lane=lane, places=[(block.seq, block.i) for block in blocks])
    rows: dict[int, list[BlockRow]] = {}
    for block in blocks:
        row = block_row(block, prompt=prompt_size(calls.get(block.first_call or 0)), life=spans.get((block.seq, block.i), ()))
        rows.setdefault(block.seq, []).append(row)
    return tuple(
        _message(message, rows.get(message.seq, ()), calls.get(message.call or 0), findings.get(message.seq, ())) for message in messages
    )


def _calls(revision: Revision, messages: Iterable[Message], blocks: Iterable[Block]) -> dict[int, ModelCall]:
    numbers = [*(message.call for message in messages), *(block.first_call for block in blocks)]
    found = ModelCall.objects.filter(revision=revision, n__in={n for n in numbers if n is not None})
    return {call.n: call for call in found.only("n", "prompt_tokens", "output_tokens", "estimate")}


def prompt_size(call: ModelCall | None) -> int | None:
    """Size of a call's prompt in tokens: as reported, else as estimated."""
    if call is None:
        return None
    return call.prompt_tokens if call.prompt_tokens is not None else call.estimate


def words(flags: str) -> tuple[str, ...]:
    """Flags as they are stored, each once."""
    return tuple(dict.fromkeys(flags.split(","))) if flags else ()


def block_row(block: Block, *, prompt: int | None, life: tuple[LifeSpan, ...]) -> BlockRow:
    """`block` as a row; `prompt` is the size of the first prompt that held it."""
    copied = {field.name: getattr(block, field.name) for field in fields(BlockRow) if field.name in _COPIED}
    return BlockRow(
        **copied,
        life=life,
        block=f"{block.seq}.{block.i}",
        share=100 * block.estimate / prompt if prompt and block.estimate is not None else None,
        flags=words(block.flags),
        body=bytes(block.body.digest).hex(),
    )


_COPIED = {field.name for field in fields(BlockRow)} - {"block", "share", "flags", "body", "life"}


def _message(message: Message, blocks: Sequence[BlockRow], call: ModelCall | None, findings: Sequence[str]) -> MessageRow:
    usage = CallUsage(n=call.n, prompt_tokens=call.prompt_tokens, output_tokens=call.output_tokens) if call else None
    return MessageRow(
        seq=message.seq,
        role=message.role,
        origin=message.origin,
        label=message.label,
        line=message.line,
        record=message.record,
        records=message.records,
        at=message.at,
        model=message.model,
        call=message.call,
        usage=usage,
        visible=message.visible,
        inherited=message.inherited,
        abandoned=message.abandoned,
        flags=words(message.flags),
        findings=tuple(findings),
        blocks=tuple(blocks),
    )
