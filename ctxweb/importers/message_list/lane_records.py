"""One lane of a message list while its records are read: numbers are checked, since later records name earlier ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from compaction.durable.canonical import state_from
from compaction.errors import DurableError
from compaction.messages import BlockId, Body
from compaction.transcript import Appended, Called, Compaction, Edited, Event, Lane, Noted, Shown
from ctxweb.importers.message_list.decode import read_call, read_compaction, read_finding, read_message
from ctxweb.importers.message_list.fields import Fields

EVENT_TYPES = ("message", "show", "call", "compaction", "finding", "durable")


class LaneRecords:
    """The events of one lane so far. `facts` are the fields of its `Lane`."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.events: list[Event] = []
        self._facts = facts
        self._records: list[int] = []
        self._blocks: list[int] = []
        self._calls = 0
        self._start = hashlib.sha256()
        self._readers: dict[str, Callable[[Fields, int], tuple[Body, ...]]] = {
            "message": self._message,
            "show": self._show,
            "call": self._call,
            "compaction": self._compaction,
            "finding": self._finding,
            "durable": self._durable,
        }

    def take(self, told: Fields, record: int) -> tuple[Body, ...]:
        """Read one event and return the texts that it brings. Raises BadField."""
        self._records.append(record)
        bodies = self._readers[told.choice("type", EVENT_TYPES)](told, record)
        told.done()
        return bodies

    def own(self, record: int) -> None:
        self._records.append(record)

    def lane(self) -> Lane:
        """The lane; one without a key of its own is known by its first messages."""
        facts = {**self._facts, "key": self._facts.get("key") or self._start.hexdigest()}
        return Lane(**facts, events=self.events, record_numbers=tuple(dict.fromkeys(self._records)))

    def _message(self, told: Fields, record: int) -> tuple[Body, ...]:
        seq = self._numbered(told, "seq", len(self._blocks) + 1, "message")
        shown = told.flag("shown", True)
        message, bodies = read_message(told, seq=seq, record=record)
        self._blocks.append(len(message.blocks))
        if not self._calls:
            self._start.update(message.role.encode() + b"".join(block.body.digest for block in message.blocks))
        self.events.append(Appended(message=message))
        if shown:
            self.events.append(Shown(seqs=(seq,)))
        return bodies

    def _show(self, told: Fields, _: int) -> tuple[Body, ...]:
        seqs = told.numbers("seqs")
        self._require_messages(told, "seqs", seqs)
        self.events.append(Shown(seqs=seqs))
        return ()

    def _call(self, told: Fields, _: int) -> tuple[Body, ...]:
        self._calls = self._numbered(told, "n", self._calls + 1, "call")
        self.events.append(Called(call=read_call(told, n=self._calls, next_seq=len(self._blocks) + 1)))
        return ()

    def _compaction(self, told: Fields, _: int) -> tuple[Body, ...]:
        base = told.blocks("base")
        compaction, bodies = read_compaction(told)
        self._require_blocks(told, "base", base or ())
        self._check_edits(told, compaction)
        self.events.append(Edited(compaction=compaction, base=base))
        return bodies

    def _finding(self, told: Fields, _: int) -> tuple[Body, ...]:
        self.events.append(Noted(finding=read_finding(told)))
        return ()

    def _durable(self, told: Fields, _: int) -> tuple[Body, ...]:
        """The durable state of the lane. It is no event of its history: only whether it can be read is looked at here."""
        try:
            state_from(told.value("state"))
        except DurableError as error:
            raise told.error("state", f"{error.place}: {error}" if error.place else str(error)) from None
        return ()

    def _numbered(self, told: Fields, name: str, due: int, called: str) -> int:
        """The number of a message or call, which is the next one; a file may leave it out."""
        given = told.number(name, due)
        if given != due:
            raise told.error(name, f"is {given} where {due} is due: a record of a {called} before this line is missing or broken")
        return due

    def _check_edits(self, told: Fields, compaction: Compaction) -> None:
        for place, edit in enumerate(compaction.edits):
            self._require_messages(told, f"edits[{place}].puts", edit.puts)
            self._require_blocks(told, f"edits[{place}].takes", edit.takes)
            for name, block in (("block", edit.block), ("after", edit.after)):
                self._require_blocks(told, f"edits[{place}].{name}", () if block is None else (block,))

    def _require_messages(self, told: Fields, name: str, seqs: Iterable[int]) -> None:
        for seq in seqs:
            if not 0 < seq <= len(self._blocks):
                raise told.error(name, f"names message {seq}, which no earlier record of this lane holds")

    def _require_blocks(self, told: Fields, name: str, blocks: Iterable[BlockId]) -> None:
        for block in blocks:
            if not (0 < block.seq <= len(self._blocks) and 0 < block.i <= self._blocks[block.seq - 1]):
                raise told.error(name, f"names block {block}, which no earlier record of this lane holds")
