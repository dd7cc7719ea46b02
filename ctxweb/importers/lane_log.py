"""One lane while a reader builds it: dense seqs, what is visible now, and the events in order.

For the formats that log messages one after another and change the list of them. Texts leave as bodies through
`take_bodies`; only structure stays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compaction.messages import Block, BlockId, BlockKind, Body, Message, Origin, Role
from compaction.transcript import Appended, Called, Compaction, Edited, Event, Finding, ModelCall, Noted, Shown
from ctxweb.importers.anthropic_content import Drawn, Piece, Rare
from ctxweb.importers.values import body_of

Likeness = bytes
"""What makes two messages the same to a reader: a digest of the role and of kind, tool id and text of each block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a message was logged: physical line, record number, time in ms since 1970 UTC."""

    line: int
    record: int
    at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A message before it has its seq. `label` names what made it where the role does not.

    `records`: how many entries of the source it is, 0 for one that was made of a part of another. `line` and `at` are its
    own where it has them, else those of its record.
    """

    role: Role
    origin: Origin
    pieces: tuple[Drawn, ...]
    native_id: str | None = None
    model: str | None = None
    label: str | None = None
    records: int = 1
    line: int | None = None
    at: int | None = None
    flags: tuple[str, ...] = ()

    @property
    def likeness(self) -> Likeness:
        return likeness_of(self.role, (piece for piece, _ in self.pieces))


class LaneLog:
    """The messages, view and events of one lane. `view` holds the seqs that the next prompt would hold, in order;
    `unshown` are logged and were never part of it."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.events: list[Event] = []
        self.calls: list[ModelCall] = []
        self.compactions: list[Compaction] = []
        self.view: list[int] = []
        self.newest: dict[Likeness, int] = {}
        self.unshown: set[int] = set()
        self._likeness: list[Likeness] = []
        self._bodies: list[Body] = []

    def append(self, draft: Draft, place: Place, *, shown: bool = True) -> Message:
        """Log a message under the next seq and, if `shown`, let it enter the view at its end."""
        message = self._message(draft, place)
        self.messages.append(message)
        self._likeness.append(b"")
        self.alter(message.seq, likeness_of(message.role, message.blocks))
        self.events.append(Appended(message=message))
        self.unshown.add(message.seq)
        if shown:
            self.show((message.seq,))
        return message

    def show(self, seqs: tuple[int, ...]) -> None:
        self.view.extend(seqs)
        self.unshown.difference_update(seqs)
        self.events.append(Shown(seqs=seqs))

    def edit(self, compaction: Compaction, *, view: list[int] | None = None) -> int:
        """Apply a compaction and return its index in `compactions`; `view` is what the next prompt holds after it (None: the
        same messages)."""
        self.events.append(Edited(compaction=compaction))
        self.compactions.append(compaction)
        if view is not None:
            self.view = view
            self.unshown.difference_update(view)
        return len(self.compactions) - 1

    def note(self, code: str, *, line: int | None = None, seq: int | None = None, detail: str = "") -> None:
        self.events.append(Noted(finding=Finding(code=code, line=line, seq=seq, detail=detail)))

    def call(self, call: ModelCall, *, at_event: int | None = None) -> None:
        """Book a model call whose prompt was the view at event `at_event` (None: now); the answer came after it."""
        self.calls.append(call)
        self.events.insert(len(self.events) if at_event is None else at_event, Called(call=call))

    def insert_calls(self, calls: Sequence[ModelCall], at_events: Sequence[int]) -> None:
        """Book calls, numbered on, each at its event; the events ascend."""
        for call, at_event in reversed(list(zip(calls, at_events, strict=True))):
            self.events.insert(at_event, Called(call=call))
        self.calls.extend(calls)

    def next_call(self) -> int:
        return len(self.calls) + 1

    def revise(self, seq: int, **changes: object) -> None:
        """Change what is known of a message that was logged before."""
        self.messages[seq - 1] = replace(self.messages[seq - 1], **changes)  # type: ignore[arg-type]

    def recast(self, index: int, **changes: object) -> None:
        """Change what is known of a compaction."""
        self.compactions[index] = replace(self.compactions[index], **changes)  # type: ignore[arg-type]

    def final_events(self) -> Iterator[Event]:
        """The events with every message, call and compaction as it is known at the end."""
        compactions = iter(self.compactions)
        for event in self.events:
            match event:
                case Edited():
                    yield replace(event, compaction=next(compactions))
                case Appended(message=message):
                    yield Appended(message=self.messages[message.seq - 1])
                case Called(call=call):
                    yield Called(call=self.calls[call.n - 1])
                case _:
                    yield event

    def take_bodies(self) -> tuple[Body, ...]:
        """The texts of the messages logged since the last time."""
        bodies, self._bodies = tuple(self._bodies), []
        return bodies

    def body(self, text: str) -> Body:
        """Hand over a text and keep its digest."""
        body = body_of(text)
        self._bodies.append(body)
        return body.without_text()

    def blocks_of(self, seqs: Iterable[int]) -> tuple[BlockId, ...]:
        return tuple(block.id for seq in seqs for block in self.messages[seq - 1].blocks)

    def likeness(self, seq: int) -> Likeness:
        """Likeness of a message as it stands now."""
        return self._likeness[seq - 1]

    def alter(self, seq: int, likeness: Likeness) -> None:
        """Say what a message looks like after an edit of its blocks."""
        self._likeness[seq - 1] = likeness
        self.newest[likeness] = seq

    def _message(self, draft: Draft, place: Place) -> Message:
        seq = len(self.messages) + 1
        blocks = tuple(piece.block(BlockId(seq, i)) for i, (piece, _) in enumerate(draft.pieces, start=1))
        self._bodies.extend(body for _, body in draft.pieces)
        return Message(
            seq=seq,
            role=draft.role,
            origin=draft.origin,
            blocks=blocks,
            line=place.line if draft.line is None else draft.line,
            record=place.record,
            records=draft.records,
            native_id=draft.native_id,
            at=place.at if draft.at is None else draft.at,
            model=draft.model,
            label=draft.label,
            flags=draft.flags,
        )


def draw(kind: BlockKind, text: str, *, tool_id: str | None = None, tool_name: str | None = None, **rare: Any) -> Drawn:
    """A piece with its text; `rare` are the fields of `Rare`."""
    body = body_of(text)
    return Piece(kind=kind, digest=body.digest, chars=body.chars, tool_id=tool_id, tool_name=tool_name, rare=Rare(**rare)), body


def likeness_of(role: Role, blocks: Iterable[Block | Piece]) -> Likeness:
    digest = hashlib.blake2b(role.encode(), digest_size=16)
    for block in blocks:
        text = block.digest if isinstance(block, Piece) else block.body.digest
        digest.update(f"\0{block.kind}\0{block.tool_id or ''}\0".encode() + text)
    return digest.digest()
