"""What one prompt measures in every unit that a program counts in, how far each unit is from exact tokens on the texts of this
session, and what a provider would refuse of its prompts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.conf import settings
from django.db.models import Sum

from compaction.analysis.deviation import Deviation, deviations, grouped
from compaction.counters.units import UNITS
from compaction.messages import Block, BlockId, Body, Message
from compaction.meter import TokenMeter, UnitMeasurement
from compaction.protocol_rules import PROVIDER_RULES, WHAT_TO_DO, Breach, ProviderRules, breaches_of_calls
from compaction.provider_prompts import breaches_of_prompt, prompts_of
from compaction.replay.replayable import Replayable
from compaction.replay.rows import BlockRow
from compaction.view import PromptView
from ctxweb.models import Body as StoredBody
from ctxweb.models import ModelCall, Span
from ctxweb.queries.call_figures import visible_at
from ctxweb.queries.readable import Lane
from ctxweb.replays.lane import replayable_lane

MOST_BREACHES = 50  # told one by one
_SPAN = ("seq", "i", "state", "from_call", "to_call", "position", "body")


@dataclass(frozen=True, slots=True, kw_only=True)
class BreachRow:
    """A place at which a prompt breaks a rule: the first call that has it, the message in it (from 0), the block and the tool id."""

    call: int
    code: str
    means: str
    position: int
    block: str
    tool_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesRow:
    """A provider's rules over the lane. `calls` were checked; `breaches` counts all of them, `told` are the first."""

    rules: str
    title: str
    source: str
    calls: int
    breaches: int
    told: tuple[BreachRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitDetail:
    """`exact` names the tokenizer that the units are held against. `texts` were measured, the first of `distinct_texts` of the lane;
    `measured` is the prompt of `call`, as far as it was logged: `has_system` says whether the system prompt is among it. `rules` are
    those of the whole lane where `is_whole_lane`, else of that prompt."""

    call: int
    exact: str
    texts: int
    distinct_texts: int
    deviations: tuple[Deviation, ...]
    measured: tuple[UnitMeasurement, ...]
    blocks: int
    has_system: bool
    rules: tuple[RulesRow, ...]
    is_whole_lane: bool


def unit_detail(*, lane: Lane, call: int) -> UnitDetail:
    """The figures of a lane, its prompt at `call` among them."""
    with replayable_lane(session=lane.session, revision=lane.revision) as stored:
        messages = _messages(stored, lane, call)
        texts, counts, distinct = _texts(stored)
        is_whole = _is_checked_whole(lane)
        return UnitDetail(
            call=call,
            exact=lane.session.encoding,
            texts=len(texts),
            distinct_texts=distinct,
            deviations=deviations(grouped(texts), lambda text: counts[text]),
            measured=tuple(_measured(stored, messages)),
            blocks=sum(len(message.blocks) for message in messages),
            has_system=any(message.role in ("system", "developer") for message in messages),
            rules=tuple(_rules(rules, stored, lane, call, messages, is_whole=is_whole) for rules in PROVIDER_RULES),
            is_whole_lane=is_whole,
        )


def _texts(stored: Replayable) -> tuple[list[str], dict[str, int], int]:
    """Distinct texts, spread evenly over the lane where there are many; their exact tokens; and how many there are."""
    known = {row.digest: row.tokens for row in stored.blocks if row.chars and row.media_bytes is None}
    step = -(-len(known) // settings.CTXWEB_UNIT_TEXTS) or 1
    chosen = list(known)[::step]
    rows = StoredBody.objects.filter(digest__in=chosen).values_list("digest", "text")
    counts = {text: known[bytes(digest)] for digest, text in rows.iterator(2_000)}
    return list(counts), counts, len(known)


def _messages(stored: Replayable, lane: Lane, call: int) -> tuple[Message, ...]:
    """What the call was sent, as messages; a text that had been changed by then is there as it was."""
    known = {(row.seq, row.i): row for row in stored.blocks}
    spans = [row for row in visible_at(lane, call).values_list(*_SPAN) if row[:2] in known]
    changed = {bytes(row[6]) for row in spans if row[6] is not None and bytes(row[6]) != known[row[:2]].digest}
    texts = dict(StoredBody.objects.filter(digest__in=changed).values_list("digest", "text")) if changed else {}
    bodies = {bytes(digest): Body.of(text) for digest, text in texts.items()}
    found = []
    for seq, rows in groupby(spans, key=lambda row: row[0]):
        blocks = tuple(_block(known[row[:2]], row[2], bodies.get(bytes(row[6] or b""))) for row in rows)
        found.append(_message(stored, seq, blocks))
    return tuple(found)


def _block(row: BlockRow, state: Any, changed: Body | None) -> Block:
    return Block(
        id=BlockId(row.seq, row.i),
        kind=row.kind,
        body=changed or Body(digest=row.digest, chars=row.chars),
        state=state,
        tool_id=row.tool_id or None,
        tool_name=row.tool_name or None,
        path=row.path or None,
        media_bytes=row.media_bytes,
        signature_chars=row.signature_chars,
        is_error=row.is_error,
        flags=row.flags,
    )


def _message(stored: Replayable, seq: int, blocks: tuple[Block, ...]) -> Message:
    row = stored.messages[seq - 1]
    return Message(seq=seq, role=row.role, origin=row.origin, blocks=blocks, line=row.line, record=0, call=row.call)


def _measured(stored: Replayable, messages: Sequence[Message]) -> Iterator[UnitMeasurement]:
    meter = TokenMeter()
    for unit in UNITS:
        yield meter.measure_view(PromptView.of(messages, stored.pricer(unit)))


def _is_checked_whole(lane: Lane) -> bool:
    visits = ModelCall.objects.filter(revision=lane.revision).aggregate(blocks=Sum("block_count"))["blocks"] or 0
    return visits <= settings.CTXWEB_RULES_BLOCKS


def _rules(rules: ProviderRules, stored: Replayable, lane: Lane, call: int, messages: Iterable[Message], *, is_whole: bool) -> RulesRow:
    if is_whole:
        found = list(breaches_of_calls(prompts_of(_spans(lane), range(1, len(stored.calls) + 1), _logged(stored), rules), rules))
    else:
        found = [(call, breach) for breach in breaches_of_prompt(messages, rules)]
    return RulesRow(
        rules=rules.id,
        title=rules.title,
        source=rules.source,
        calls=len(stored.calls) if is_whole else 1,
        breaches=len(found),
        told=tuple(_breach_row(at, breach) for at, breach in found[:MOST_BREACHES]),
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """A stored span, as far as a prompt needs it."""

    block: BlockId
    from_call: int
    to_call: int | None
    position: float


def _spans(lane: Lane) -> Iterator[_Seen]:
    rows = Span.objects.filter(history=lane.history).values_list("seq", "i", "from_call", "to_call", "position")
    for seq, i, from_call, to_call, position in rows.iterator(2_000):
        yield _Seen(BlockId(seq, i), from_call, None if to_call >= Span.STILL_VISIBLE else to_call, position)


def _logged(stored: Replayable) -> Iterator[Message]:
    for seq, rows in groupby(stored.blocks, key=lambda row: row.seq):
        yield _message(stored, seq, tuple(_block(row, row.state, None) for row in rows))


def _breach_row(call: int, breach: Breach) -> BreachRow:
    return BreachRow(
        call=call,
        code=breach.code,
        means=WHAT_TO_DO[breach.code],
        position=breach.position,
        block="" if breach.block is None else str(breach.block),
        tool_id=breach.tool_id[:200],
    )
