"""dsh's compactions as transactions: a start, a summary with the price of what it shadows, and an end that may hold an error."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.dsh.events import END, START, SUMMARY, JsonObject, tokens
from compaction.transcript import Compaction, Trigger
from ctxweb.importers.lane_log import LaneLog, Place
from ctxweb.importers.values import word


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the log tells of a compaction: `place` is that of its summary, or of the event that stands for one."""

    place: Place
    id: str | None = None
    trigger: Trigger = "unknown"
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    id: str | None
    place: Place
    trigger: Trigger


class Transactions:
    """The transaction that is open, and the summary that waits for the message that replaces its range."""

    def __init__(self, log: LaneLog) -> None:
        self._log = log
        self._open: _Open | None = None
        self._summary: Told | None = None

    def take(self, kind: str, data: JsonObject, place: Place) -> None:
        """An event of a transaction, or the end of a seed, before which no transaction is open any more."""
        name = word(data.get("compactionId"))
        trigger: Trigger = "auto" if data.get("turn") is not None else "manual"
        if kind == START:
            self._give_up("compaction_unfinished")
            self._open = _Open(id=name, place=place, trigger=trigger)
        elif kind == SUMMARY:
            price = tokens(data.get("shadowedTokenCount"))
            flags = (f"shadowed {price} tokens",) if price else ()
            self._summary = Told(place=place, id=name, trigger=self._open.trigger if self._open else "unknown", flags=flags)
        elif kind == END:
            if data.get("error") is not None:
                self._log.edit(
                    Compaction(mechanism="summary", line=place.line, trigger=trigger, status="failed", native_id=name, at=place.at)
                )
            self._open = self._summary = None
        else:
            self._give_up("compaction_stale")

    def told(self, name: object, place: Place) -> Told:
        """What is known of the compaction by which a message replaces a range, at `place` where nothing was announced."""
        found, self._summary = self._summary, None
        if found is not None and found.id == name:
            return found
        trigger = self._open.trigger if self._open is not None and self._open.id == name else "unknown"
        return Told(place=place, id=word(name), trigger=trigger)

    def finish(self) -> None:
        """The log ends."""
        self._give_up("compaction_unfinished")

    def _give_up(self, code: str) -> None:
        if self._open is not None:
            self._log.note(code, line=self._open.place.line, detail=self._open.id or "")
        self._open = self._summary = None
