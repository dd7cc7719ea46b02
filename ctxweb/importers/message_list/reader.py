"""Reads a message list: with a header its records are events, without one it is a bare list of {role, content}."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from compaction.transcript import Lane
from ctxweb.importers.base import Reading
from ctxweb.importers.exchange_reader import ExchangeReader
from ctxweb.importers.message_list.bare import BareDialect
from ctxweb.importers.message_list.decode import read_lane
from ctxweb.importers.message_list.encode import FORMAT, VERSION
from ctxweb.importers.message_list.fields import Fields
from ctxweb.importers.message_list.lane_records import LaneRecords
from ctxweb.importers.physical import RawRecord
from ctxweb.importers.values import word

RECORDS = "records"


def is_header(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("format") == FORMAT


class MessageListReader:
    """The first value tells which of the two it is. A field of an event that cannot be read ends the import."""

    def __init__(self) -> None:
        self._bare: ExchangeReader | None = None
        self._header: dict[str, Any] | None = None
        self._lanes: list[LaneRecords] = []

    def feed(self, record: RawRecord) -> Reading:
        value = record.value
        if self._bare is None and self._header is None and value is not None and not is_header(value):
            self._bare = ExchangeReader(BareDialect())
        if self._bare is not None:
            return self._bare.feed(record)
        if value is None:
            return Reading(verdict=record.verdict or "unknown_type")
        if self._header is not None:
            return self._read(value, record, record.line)
        return self._read_header(value, record)

    def lanes(self) -> Iterable[Lane]:
        return self._bare.lanes() if self._bare is not None else (lane.lane() for lane in self._lanes)

    def _read_header(self, value: Mapping[str, Any], record: RawRecord) -> Reading:
        """The header: facts of the first lane may stand in it, and in a file of one JSON object the records too."""
        records = value.get(RECORDS, [])
        told = Fields({name: given for name, given in value.items() if name != RECORDS}, line=record.line)
        told.text("format")
        version = told.number("version")
        if version != VERSION:
            raise told.error("version", f"is {version}; this program reads version {VERSION}")
        told.text("program")
        self._header = read_lane(told)
        told.done()
        if not isinstance(records, list):
            raise told.error(RECORDS, "must be a list of JSON objects")
        readings = [self._read(entry, record, line) for line, entry in enumerate(records, start=1)]
        return Reading(verdict=record.verdict or "ok", type="header", bodies=tuple(body for reading in readings for body in reading.bodies))

    def _read(self, value: Any, record: RawRecord, line: int) -> Reading:
        told = Fields(value, line=line)
        kind = word(value.get("type")) or ""
        if kind == "lane":
            told.text("type")
            self._lanes.append(LaneRecords(read_lane(told)))
            self._lanes[-1].own(record.number)
            told.done()
            return Reading(verdict=record.verdict or "ok", type=kind)
        if not self._lanes:
            self._lanes.append(LaneRecords(self._header or {}))
        return Reading(verdict=record.verdict or "ok", type=kind, bodies=self._lanes[-1].take(told, record.number))
