"""What a dsh log records of its own compactions: transactions with their summaries, prunes, and the messages that are left."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from compaction.checkpoints import CLOSING_TAG, OPENING_TAG
from compaction.dsh.events import (
    COMPACT_PLUGIN,
    END,
    PRUNE,
    RESULT,
    START,
    SUMMARY,
    USER,
    JsonObject,
    content_of,
    data_of,
    message_of,
    result_block,
    source_of,
    texts_of,
    tokens,
    type_of,
)
from compaction.dsh.surface import Replacement, Surface
from compaction.prune import PRUNE_MARK

_OPENS = re.compile(rf"(?:^|\n\n){re.escape(OPENING_TAG)}$")

Outcome = Literal["open", "ok", "failed"]
MarkKind = Literal["checkpoint_open", "checkpoint_close", "pruned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCompaction:
    """One transaction, by the seqs of its events; None where it never got there. `tokens` is the price of what it shadowed."""

    id: str
    start: int
    summary: int | None = None
    replaced_by: int | None = None
    end: int | None = None
    shadowed: tuple[int, ...] | None = None
    tokens: int | None = None
    outcome: Outcome = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPrune:
    """A result that lost its middle: its event, the one that stands for it, and its text's length in code points."""

    original: int
    replacement: int
    call_id: str | None
    chars_before: int
    chars_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A text around a mark. A tag of a checkpoint is a mark alone."""

    kind: MarkKind
    head: str = ""
    tail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHistory:
    """`visible` are the events on the surface at the end."""

    visible: tuple[JsonObject, ...]
    replacements: tuple[Replacement, ...]
    compactions: tuple[RecordedCompaction, ...]
    prunes: tuple[RecordedPrune, ...]


def log_history(events: Iterable[JsonObject]) -> LogHistory:
    """What the log records. Raises SessionLogError for the first broken rule of the surface."""
    surface, found = Surface(), _Found()
    shown: dict[int, JsonObject] = {}
    previous: JsonObject = {}
    for event in events:
        replacement = surface.take(event)
        if "surfaceOp" in event:
            shown[event["seq"]] = event
        if replacement is None:
            found.take(event)
        elif type_of(event) == RESULT and type_of(previous) == PRUNE:
            found.prunes.append(_prune(shown[replacement.start], event))
        elif type_of(event) == USER:
            found.replaced(event)
        previous = event
    return LogHistory(
        visible=tuple(shown[seq] for seq in surface.nodes),
        replacements=tuple(surface.replacements),
        compactions=tuple(found.compactions.values()),
        prunes=tuple(found.prunes),
    )


def marked(text: str) -> MarkedText | str:
    """The text taken apart where a mark of dsh stands in it; itself without one."""
    opening = _OPENS.search(text)
    if opening is not None:
        return MarkedText(kind="checkpoint_open", head=text[: opening.start()])
    if text == CLOSING_TAG:
        return MarkedText(kind="checkpoint_close")
    head, mark, tail = text.partition(PRUNE_MARK)
    return MarkedText(kind="pruned", head=head, tail=tail) if mark else text


def text_chars(message: JsonObject) -> int:
    """Code points of all text blocks of a tool's answer."""
    return sum(map(len, texts_of(content_of(result_block(message)))))


class _Found:
    def __init__(self) -> None:
        self.compactions: dict[str, RecordedCompaction] = {}
        self.prunes: list[RecordedPrune] = []

    def take(self, event: JsonObject) -> None:
        kind, data, seq = type_of(event), data_of(event), event["seq"]
        name, told = str(data.get("compactionId")), data.get("shadowedSeqs")
        if kind == START:
            self.compactions[name] = RecordedCompaction(id=name, start=seq)
        elif kind == SUMMARY and name in self.compactions:
            shadowed, price = tuple(told) if isinstance(told, list) else (), tokens(data.get("shadowedTokenCount"))
            self.compactions[name] = replace(self.compactions[name], summary=seq, shadowed=shadowed, tokens=price)
        elif kind == END and name in self.compactions:
            outcome: Outcome = "failed" if data.get("error") is not None else "ok"
            self.compactions[name] = replace(self.compactions[name], end=seq, outcome=outcome)

    def replaced(self, event: JsonObject) -> None:
        source = source_of(message_of(event))
        name = str(source.get("compactionId"))
        if source.get("plugin") == COMPACT_PLUGIN and name in self.compactions:
            self.compactions[name] = replace(self.compactions[name], replaced_by=event["seq"])


def _prune(original: JsonObject, event: JsonObject) -> RecordedPrune:
    before, after = message_of(original), message_of(event)
    return RecordedPrune(
        original=original["seq"],
        replacement=event["seq"],
        call_id=source_of(after).get("callId") or result_block(after).get("toolCallId"),
        chars_before=text_chars(before),
        chars_after=text_chars(after),
    )


def shadowed_range(shadowed: Sequence[int]) -> tuple[int, int] | None:
    """First and last of the shadowed events, by position."""
    return (shadowed[0], shadowed[-1]) if shadowed else None
