"""The records of a message list as events: the way back from `encode`."""

from __future__ import annotations

from dataclasses import fields
from typing import Literal, get_args

from compaction.messages import BLOCK_KINDS, BLOCK_STATES, Block, BlockId, Body, Message, Origin, Role, Visibility
from compaction.transcript import (
    Compaction,
    CompactionOrigin,
    Edit,
    Fidelity,
    Finding,
    LaneKind,
    Mechanism,
    ModelCall,
    Status,
    Trigger,
    Usage,
    Verb,
)
from ctxweb.importers.message_list.fields import Fields
from ctxweb.importers.responses_items import ORIGINS
from ctxweb.importers.values import body_of

ROLES: tuple[Role, ...] = get_args(Role)
ORIGIN_WORDS: tuple[Origin, ...] = get_args(Origin)
VISIBILITIES: tuple[Visibility, ...] = get_args(Visibility)
LANE_KINDS: tuple[LaneKind, ...] = get_args(LaneKind)
VERBS: tuple[Verb, ...] = get_args(Verb)
MECHANISMS: tuple[Mechanism, ...] = get_args(Mechanism)
TRIGGERS: tuple[Trigger, ...] = get_args(Trigger)
STATUSES: tuple[Status, ...] = get_args(Status)
COMPACTION_ORIGINS: tuple[CompactionOrigin, ...] = get_args(CompactionOrigin)
FIDELITIES: tuple[Fidelity, ...] = get_args(Fidelity)
SCALES: tuple[Literal["prompt", "messages"], ...] = ("prompt", "messages")

LANE_TEXTS = (
    "key",
    "native_id",
    "parent_key",
    "parent_native_id",
    "parent_tool_id",
    "title",
    "cwd",
    "git_branch",
    "model",
    "producer",
    "producer_version",
    "continues",
    "source_format",
)
USAGE_COUNTS = tuple(field.name for field in fields(Usage))


def read_lane(told: Fields) -> dict[str, str | int | None]:
    """The facts of a lane under the names of `Lane`'s fields; `kind` apart, each may be absent."""
    facts: dict[str, str | int | None] = {name: told.text(name) for name in LANE_TEXTS}
    return {**facts, "kind": told.choice("kind", LANE_KINDS, "main"), "context_window": told.number("context_window")}


def read_message(told: Fields, *, seq: int, record: int) -> tuple[Message, tuple[Body, ...]]:
    """A message with the texts of its blocks, which it keeps as digests only."""
    role = told.choice("role", ROLES)
    blocks, bodies = _blocks(told, seq)
    message = Message(
        seq=seq,
        role=role,
        origin=told.choice("origin", ORIGIN_WORDS, ORIGINS[role]),
        blocks=blocks,
        line=told.line,
        record=record,
        records=told.number("records", 1) or 0,
        native_id=told.text("native_id"),
        at=told.time("at"),
        model=told.text("model"),
        call=told.number("call"),
        label=told.text("label"),
        visible=told.choice("visible", VISIBILITIES, "yes"),
        inherited=told.flag("inherited"),
        abandoned=told.flag("abandoned"),
        flags=told.words("flags"),
    )
    return message, bodies


def _blocks(told: Fields, seq: int) -> tuple[tuple[Block, ...], tuple[Body, ...]]:
    """The blocks, or the one text block that `content` stands for."""
    if told.has("content"):
        body = body_of(told.needed_text("content"))
        return (Block(id=BlockId(seq, 1), kind="text", body=body.without_text()),), (body,)
    bodies, blocks = list[Body](), list[Block]()
    for i, one in enumerate(told.objects("blocks"), start=1):
        body = body_of(one.needed_text("text"))
        bodies.append(body)
        blocks.append(_block(one, BlockId(seq, i), body.without_text()))
        one.done()
    return tuple(blocks), tuple(bodies)


def _block(told: Fields, place: BlockId, body: Body) -> Block:
    return Block(
        id=place,
        kind=told.choice("kind", BLOCK_KINDS),
        body=body,
        state=told.choice("state", BLOCK_STATES, "whole"),
        tool_id=told.text("tool_id"),
        tool_name=told.text("tool_name"),
        path=told.text("path"),
        pointer=told.text("pointer"),
        media_type=told.text("media_type"),
        media_bytes=told.number("media_bytes"),
        signature_chars=told.number("signature_chars", 0) or 0,
        is_error=told.flag("is_error"),
        flags=told.words("flags"),
    )


def read_call(told: Fields, *, n: int, next_seq: int) -> ModelCall:
    """A model call; its answer is the next message unless `seq` says otherwise."""
    usage = told.object("usage")
    call = ModelCall(
        n=n,
        seq=told.number("seq") if told.has("seq") else next_seq,
        line=told.line,
        usage=Usage(**{name: usage.number(name) for name in USAGE_COUNTS}),
        native_id=told.text("native_id"),
        model=told.text("model"),
        at=told.time("at"),
        context_window=told.number("context_window"),
        previous=told.number("previous") if told.has("previous") else (n - 1 or None),
        abandoned=told.flag("abandoned"),
        inherited=told.flag("inherited"),
        fidelity=told.choice("fidelity", FIDELITIES, "derived"),
        output_reliable=told.flag("output_reliable", True),
        producer_version=told.text("producer_version"),
        flags=told.words("flags"),
    )
    usage.done()
    return call


def read_compaction(told: Fields) -> tuple[Compaction, tuple[Body, ...]]:
    """A compaction with the texts of its state edits."""
    edits, bodies = list[Edit](), list[Body]()
    for one in told.objects("edits"):
        edit, body = _edit(one)
        edits.append(edit)
        bodies.extend(() if body is None else (body,))
        one.done()
    compaction = Compaction(
        mechanism=told.choice("mechanism", MECHANISMS),
        line=told.line,
        edits=tuple(edits),
        origin=told.choice("origin", COMPACTION_ORIGINS, "recorded"),
        trigger=told.choice("trigger", TRIGGERS, "unknown"),
        status=told.choice("status", STATUSES, "ok"),
        tokens_before=told.number("tokens_before"),
        tokens_after=told.number("tokens_after"),
        scale=told.choice("scale", SCALES, "prompt"),
        layer=told.text("layer"),
        native_id=told.text("native_id"),
        at=told.time("at"),
        detached=told.flag("detached"),
        flags=told.words("flags"),
    )
    return compaction, tuple(bodies)


def _edit(told: Fields) -> tuple[Edit, Body | None]:
    text = told.text("text")
    body = None if text is None else body_of(text)
    block = told.block("block")
    edit = Edit(
        verb=told.choice("verb", VERBS),
        block=block,
        state=told.choice("state", BLOCK_STATES) if block is not None else None,
        body=None if body is None else body.without_text(),
        unit_tokens=told.number("unit_tokens"),
        takes=told.blocks("takes") or (),
        puts=told.numbers("puts"),
        after=told.block("after"),
    )
    return edit, body


def read_finding(told: Fields) -> Finding:
    return Finding(code=told.needed_text("code"), line=told.line, seq=told.number("seq"), detail=told.text("detail") or "")
