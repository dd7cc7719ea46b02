"""The model calls of a rollout.

A run is what the model wrote without an item of another kind between. Its prompt is the view before the run, and the token count
that follows says what it cost; so a call is booked when its count arrives, at the place where its run began.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from compaction.transcript import Appended, Fidelity, ModelCall
from ctxweb.importers.codex.counts import TokenCount, changed, read_count
from ctxweb.importers.lane_log import LaneLog, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Where a run began: its first event, its place, and what was known then."""

    event: int
    compactions: int
    seq: int
    place: Place
    model: str | None
    fidelity: Fidelity


class Calls:
    """`grade` is the fidelity of the view as it stands, `last_total` the size that the latest possible count told."""

    def __init__(self, log: LaneLog) -> None:
        self._log = log
        self.grade: Fidelity = "approx"
        self.last_total: int | None = None
        self._run: _Run | None = None
        self._running = False
        self._last: TokenCount | None = None
        self._records: list[int] = []
        self._awaiting: list[int] = []

    def output(self, place: Place, model: str | None) -> None:
        """The model is about to log an item."""
        if not self._running:
            event, seq = len(self._log.events), len(self._log.messages) + 1
            compactions = len(self._log.compactions)
            self._run = _Run(event=event, compactions=compactions, seq=seq, place=place, model=model, fidelity=self.grade)
        self._running = True

    def end_run(self) -> None:
        """An item of another kind comes: what the model writes next belongs to another prompt."""
        self._running = False

    def blur(self) -> None:
        """Something entered the view whose seen content is only reckoned."""
        if self.grade in ("exact", "derived"):
            self.grade = "approx"

    def await_size(self, compaction: int) -> None:
        """The size after a compaction is the prompt of the next call."""
        self._awaiting.append(compaction)

    def count(self, told: Mapping[str, Any], place: Place, window: int | None) -> None:
        now = read_count(told, window, self._last)
        is_new = changed(now, self._last)
        self._last = now
        if is_new and self._run is not None:
            self._book(self._run, now, place)
        elif is_new:
            self._note_stray(now, place)
        if not now.is_impossible and now.total:
            self.last_total = now.total

    def abandon(self, seqs: set[int]) -> None:
        """Mark the calls whose answers leave in a rollback."""
        for index, call in enumerate(self._log.calls):
            if call.seq in seqs:
                self._log.calls[index] = replace(call, abandoned=True)

    def inherit(self, until: int) -> None:
        for index, record in enumerate(self._records):
            if record <= until:
                self._log.calls[index] = replace(self._log.calls[index], inherited=True)

    def _book(self, run: _Run, now: TokenCount, place: Place) -> None:
        number = self._log.next_call()
        flags = (*now.flags, "above_window") if now.is_impossible else now.flags
        call = ModelCall(
            n=number,
            seq=run.seq,
            line=run.place.line,
            usage=now.usage,
            model=run.model,
            at=run.place.at,
            context_window=now.window,
            previous=next((call.n for call in reversed(self._log.calls) if not call.abandoned), None),
            fidelity=run.fidelity,
            flags=flags,
        )
        for event in self._log.events[run.event :]:
            if isinstance(event, Appended) and event.message.role == "assistant":
                self._log.revise(event.message.seq, call=number)
        self._log.call(call, at_event=run.event)
        self._records.append(place.record)
        self._settle(run, now)
        self._run, self._running = None, False

    def _settle(self, run: _Run, now: TokenCount) -> None:
        for index in self._awaiting:
            if index < run.compactions:
                self._log.recast(index, tokens_after=now.prompt)
        self._awaiting = [index for index in self._awaiting if index >= run.compactions]

    def _note_stray(self, now: TokenCount, place: Place) -> None:
        code = "impossible_count" if now.is_impossible else "count_without_output"
        window = f" of a window of {now.window:,}" if now.window is not None else ""
        prompt = "unknown" if now.prompt is None else f"{now.prompt:,}"
        self._log.note(code, line=place.line, detail=f"prompt {prompt}{window}: follows no output, so it belongs to no call")
