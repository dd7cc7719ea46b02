"""One dsh session log: its header, and its events with every packed row expanded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from compaction.dsh.chunk_rows import decode_storage_record, is_row
from compaction.dsh.events import TURN_END, JsonObject, type_of
from compaction.errors import SessionLogError

SESSION = "session"
VERSION = 0
REFUSED_FIELDS = ("sandboxMode", "approvalPolicy")
"""Header fields of drafts of the format; a log that has one means something else by it than events do now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHeader:
    """The first line. `seed_length` events were copied from `parent`; `created_at` is in ms since 1970 UTC."""

    id: str
    created_at: int | None = None
    cwd: str | None = None
    parent: str | None = None
    seed_length: int = 0
    is_subagent: bool = False
    depth: int = 0
    preset: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLog:
    """`is_truncated`: the file ends inside an event, or behind its last whole turn in what is no event."""

    header: LogHeader
    events: tuple[JsonObject, ...]
    is_truncated: bool = False

    @property
    def digest(self) -> str:
        """SHA-256 of the events in one spelling: the same for every way to store them."""
        text = json.dumps(self.events, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def is_header(value: object) -> bool:
    """Whether a value is the first line of a dsh log, of whatever version."""
    return isinstance(value, dict) and value.get("type") == SESSION and "delegationDepth" in value


def read_header(value: JsonObject) -> LogHeader:
    """The header. Raises SessionLogError for another version, and for fields that no header may have or must have."""
    version = value.get("version")
    if version != VERSION or isinstance(version, bool):
        raise SessionLogError(f"the log is of version {version}, this program reads version {VERSION}", code="header_version_unsupported")
    for name in REFUSED_FIELDS:
        if name in value:
            raise SessionLogError(f"the header holds {name}: no log of version {VERSION} has it", code="header_field_refused", field=name)
    native_id, depth = value.get("id"), value.get("delegationDepth")
    if not isinstance(native_id, str) or not isinstance(depth, int):
        raise SessionLogError("the header has no id or no delegationDepth", code="header_invalid")
    return LogHeader(
        id=native_id,
        created_at=_whole(value.get("createdAt")),
        cwd=_text(value.get("cwd")),
        parent=_text(value.get("parentSession")),
        seed_length=_whole(value.get("seedLength")) or 0,
        is_subagent=value.get("origin") == "subagent",
        depth=depth,
        preset=_text(value.get("agentPreset")),
    )


def events_of(record: JsonObject, position: int) -> list[JsonObject]:
    """The events of a record. Committed examples leave out seq and time: `position`, the events before it, stands in for both.

    Raises SessionLogError for a packed row that cannot be.
    """
    seq, time = ("seq0", "time0") if is_row(record) else ("seq", "time")
    missing = {name: position for name in (seq, time) if name not in record}
    return decode_storage_record({**record, **missing} if missing else record)


def read_log(records: Iterable[tuple[int, object]], *, is_cut: bool = False) -> SessionLog:
    """The log of (line, value) pairs, None for a line that is no JSON value; `is_cut`: the file ends inside an event.

    What follows the last end of a turn may be broken: it is dropped. Raises SessionLogError for a broken line before one.
    """
    pairs = iter(records)
    _, first = next(pairs, (0, None))
    if not isinstance(first, dict) or not is_header(first):
        raise SessionLogError("the file does not begin with the header of a session", code="header_missing")
    header = read_header(first)
    events: list[JsonObject] = []
    broken: int | None = None
    for line, value in pairs:
        found = [] if not isinstance(value, dict) else events_of(value, len(events))
        if broken is not None:
            _refuse_later_turn(found, broken)
        elif not found:
            broken = line
        else:
            events.extend(found)
    return SessionLog(header=header, events=tuple(events), is_truncated=is_cut or broken is not None)


def _refuse_later_turn(events: Iterable[JsonObject], broken: int) -> None:
    if any(type_of(event) == TURN_END for event in events):
        raise SessionLogError(f"line {broken} is no event, and a turn ends after it", code="line_corrupt", line=broken)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
