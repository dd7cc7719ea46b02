"""Entries of a lane folded into messages: the streamed lines of one model call are one, every other record is its own."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from compaction.messages import Block, BlockId, Message, Origin, Role
from ctxweb.importers.anthropic_content import Piece
from ctxweb.importers.claude_code.entries import Entry

HOOK_LABELS = ("hook", "stop_hook")


class Turns:
    """The messages of a lane by seq (1…), in the file order of their first entries.

    `seq_of`: seq of each entry, 0 for entries that are no message. `calls`: seqs of model calls, in order. `owners`: the message that
    made a tool call; `answers`: the messages with its results, in order. Server tools answer inside their own message.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.seq_of = array("L", bytes(array("L").itemsize * len(entries)))
        self.calls: dict[int, int] = {}
        self.owners: dict[str, int] = {}
        self.answers: dict[str, list[int]] = {}
        self._first = array("L")
        self._further: dict[int, list[int]] = {}
        self._group()
        self._merged = {seq: self._merge(seq) for seq in self._further}
        self._uses: list[tuple[str, ...]] = [()] * (len(self) + 1)
        self._results: list[tuple[str, ...]] = [()] * (len(self) + 1)
        self._index_tools()

    def __len__(self) -> int:
        return len(self._first)

    def first(self, seq: int) -> int:
        """Place of the first entry of a message."""
        return self._first[seq - 1]

    def entries_of(self, seq: int) -> list[Entry]:
        return [self.entries[place] for place in (self.first(seq), *self._further.get(seq, ()))]

    def places(self, seq: int) -> tuple[int, ...]:
        return (self.first(seq), *self._further.get(seq, ()))

    def is_start(self, place: int) -> bool:
        """Whether a message begins with the entry at `place`."""
        seq = self.seq_of[place]
        return seq > 0 and self.first(seq) == place

    def is_prompt(self, seq: int) -> bool:
        """Whether a message can stand in a view; system records and attachments are shown beside it."""
        return self.entries[self.first(seq)].is_message

    def pieces(self, seq: int) -> tuple[Piece, ...]:
        """Pieces of a message. A piece that an earlier line of the same call brought already is not repeated."""
        merged = self._merged.get(seq)
        return self.entries[self.first(seq)].pieces if merged is None else merged

    def blocks(self, seq: int) -> tuple[BlockId, ...]:
        return tuple(BlockId(seq, i) for i in range(1, len(self.pieces(seq)) + 1))

    def results(self, seq: int) -> tuple[str, ...]:
        """Ids of the tool calls that a message answers."""
        return self._results[seq]

    def uses(self, seq: int) -> tuple[str, ...]:
        """Ids of the tool calls that a message makes."""
        return self._uses[seq]

    def _group(self) -> None:
        by_call: dict[str, int] = {}
        for place, entry in enumerate(self.entries):
            if entry.kind in ("progress", "content-replacement"):
                continue
            seq = by_call.get(entry.call_id, 0) if entry.call_id else 0
            if seq:
                self._further.setdefault(seq, []).append(place)
            else:
                self._first.append(place)
                seq = len(self._first)
                if entry.call_id:
                    by_call[entry.call_id] = seq
                    self.calls[seq] = len(self.calls) + 1
            self.seq_of[place] = seq

    def _merge(self, seq: int) -> tuple[Piece, ...]:
        pieces: list[Piece] = []
        known: set[tuple[str, bytes, str | None]] = set()
        for entry in self.entries_of(seq):
            pieces.extend(piece for piece in entry.pieces if _likeness(piece) not in known)
            known.update(map(_likeness, entry.pieces))
        return tuple(pieces)

    def _index_tools(self) -> None:
        for seq in filter(self.is_prompt, range(1, len(self) + 1)):
            self._uses[seq], self._results[seq] = (self._tool_ids(seq, kind) for kind in ("tool_use", "tool_result"))
            for tool_id in self._uses[seq]:
                self.owners.setdefault(tool_id, seq)
            for tool_id in self._results[seq]:
                self.answers.setdefault(tool_id, []).append(seq)

    def _tool_ids(self, seq: int, kind: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(piece.tool_id for piece in self.pieces(seq) if piece.kind == kind and piece.tool_id))


def _likeness(piece: Piece) -> tuple[str, bytes, str | None]:
    return piece.kind, piece.digest, piece.tool_id


def message_of(turns: Turns, seq: int, *, call: int | None, inherited: bool, abandoned: bool, is_subagent: bool) -> Message:
    """The message with its blocks; bodies come without texts. What only the harness logged counts no record of the conversation."""
    entry = turns.entries[turns.first(seq)]
    entries = turns.entries_of(seq)
    blocks = tuple(piece.block(BlockId(seq, i)) for i, piece in enumerate(turns.pieces(seq), start=1))
    return Message(
        seq=seq,
        role=_role(entry),
        origin=_origin(entry, blocks, is_subagent=is_subagent),
        blocks=blocks,
        line=entry.line,
        record=entry.number,
        records=len(entries) if entry.is_message else 0,
        native_id=entry.call_id or entry.uuid,
        at=entry.at,
        model=entry.model,
        call=call,
        label=_label(entry),
        visible="yes" if entry.is_message and "no_call" not in entry.marks else "no" if entry.kind == "system" else "unknown",
        inherited=inherited,
        abandoned=abandoned,
        flags=tuple(dict.fromkeys(flag for part in entries for flag in part.extra.flags)),
    )


def _role(entry: Entry) -> Role:
    if entry.kind == "user":
        return "user"
    return "assistant" if entry.kind == "assistant" else "system"


def _origin(entry: Entry, blocks: tuple[Block, ...], *, is_subagent: bool) -> Origin:
    if entry.kind == "assistant":
        return "harness" if "no_call" in entry.marks else "model"
    if entry.kind != "user":
        return "hook" if (entry.extra.label or "").startswith(HOOK_LABELS) else "harness"
    if "summary" in entry.marks:
        return "summary"
    if any(block.kind == "tool_result" for block in blocks):
        return "tool"
    if "meta" in entry.marks:
        return "harness"
    return "model" if is_subagent else "human"


def _label(entry: Entry) -> str | None:
    if "no_call" in entry.marks:
        return "no model call"
    return entry.extra.label
