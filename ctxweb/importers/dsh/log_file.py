"""A dsh log from its file, for programs that want its events and not a lane of a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from compaction.dsh.session_log import SessionLog, read_log
from ctxweb.importers.physical import RawRecord, ReadLimits, open_stream, read_records

BROKEN = frozenset({"invalid_json", "oversize", "too_deep", "truncated_tail", "nul_padding"})


def load_log(path: Path, *, limits: ReadLimits | None = None) -> SessionLog:
    """The log in `path`, plain or packed. A cut last line or frame is left out.

    Raises PhysicalError for a file that cannot be unpacked, SessionLogError for one that is no log, or is broken before its last turn
    ends.
    """
    limits = limits or ReadLimits()
    member = open_stream(path, limits=limits).members[0]
    with member.open() as stream:
        return read_log(_values(stream, limits), is_cut=member.is_cut)


def _values(stream: BinaryIO, limits: ReadLimits) -> Iterator[tuple[int, object]]:
    for record in read_records(stream, limits=limits, layout="lines", looks_like_record=lambda _: False):
        if record.verdict != "blank":
            yield record.line, _value(record)


def _value(record: RawRecord) -> object:
    return None if record.verdict in BROKEN else record.value
