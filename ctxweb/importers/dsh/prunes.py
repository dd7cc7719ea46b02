"""Tool results that lost content after they were logged: dsh's pruner, and whoever else rewrites one.

A pass of the pruner is one compaction with an edit for each result: an announcement with the price of what is shadowed, and then the
result that stands for it, again and again without another event between.
"""

from __future__ import annotations

from compaction.checkpoints import result_verb
from compaction.dsh.events import JsonObject, message_of, result_block, tokens
from compaction.edits import STATE_OF
from compaction.prune import PRUNE_MARK
from compaction.transcript import Compaction, Edit, Mechanism, Verb
from ctxweb.importers.dsh.content import result_text
from ctxweb.importers.lane_log import LaneLog, Place

MECHANISMS: dict[Verb, Mechanism] = {
    "truncate": "truncate_output",
    "clear": "clear_tool_result",
    "spill": "spill",
    "replace": "mask_tool_result",
}
MOST_NAMED = 3
"""Calls that a pass names; a pass over more of them names none."""


class Prunes:
    """The pass that is going on."""

    def __init__(self, log: LaneLog) -> None:
        self._log = log
        self._edits: list[Edit] = []
        self._calls: list[str] = []
        self._mechanism: Mechanism | None = None
        self._place: Place | None = None
        self._announced: int | None = None
        self._before: int | None = 0
        self._after = 0

    def announce(self, data: JsonObject, place: Place) -> None:
        """A prune event: what the next result shadows cost so much."""
        self._announced = tokens(data.get("shadowedTokenCount")) or None
        self._place = self._place or place

    def rewrite(self, event: JsonObject, seq: int, price: int, place: Place) -> None:
        """A result, of this price, that stands for the content of the message `seq`."""
        block = self._log.messages[seq - 1].blocks[0]
        text = result_text(result_block(message_of(event)))
        verb = result_verb(text, block.body.chars)
        mechanism: Mechanism = "prune_head_tail" if PRUNE_MARK in text else MECHANISMS[verb]
        if self._edits and mechanism != self._mechanism:
            self.flush()
        self._mechanism = mechanism
        self._place = self._place or place
        self._edits.append(Edit(verb=verb, block=block.id, state=STATE_OF[verb], body=self._log.body(text)))
        self._calls.append(block.tool_id or "")
        self._before = None if self._announced is None or self._before is None else self._before + self._announced
        self._after += price
        self._announced = None

    def flush(self) -> None:
        """The pass is over."""
        if self._edits and self._mechanism is not None and self._place is not None:
            self._log.edit(
                Compaction(
                    mechanism=self._mechanism,
                    line=self._place.line,
                    edits=tuple(self._edits),
                    trigger="auto",
                    tokens_before=self._before,
                    tokens_after=None if self._before is None else self._after,
                    scale="messages",
                    at=self._place.at,
                    flags=tuple(f"call {call}" for call in self._calls) if len(self._calls) <= MOST_NAMED else (),
                )
            )
        self._edits, self._calls, self._place, self._announced, self._before, self._after = [], [], None, None, 0, 0
