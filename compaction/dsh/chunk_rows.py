"""Packed rows: a run of streamed deltas as one line of a dsh log, and back.

A row and the events that it stands for say the same; packing loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from compaction.dsh.events import CHUNK, JsonObject, data_of, type_of
from compaction.errors import SessionLogError

LEAST_MEMBERS = 3  # shorter runs stay as they are
LARGEST = 2**53 - 1

_EVENT_KEYS = {"type", "seq", "time", "data"}
_ROW_KEYS = {"type", "seq0", "time0", "data"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKind:
    """How one kind of delta is packed: the row's type and list, the delta's type and text."""

    row: str
    members: str
    delta: str
    text: str
    is_call: bool = False


ROW_KINDS: tuple[RowKind, ...] = (
    RowKind(row="text-chunks", members="texts", delta="text-delta", text="text"),
    RowKind(row="reasoning-chunks", members="texts", delta="reasoning-delta", text="text"),
    RowKind(row="tool-call-chunks", members="args", delta="tool-call-delta", text="argumentsDelta", is_call=True),
)
_BY_ROW = {kind.row: kind for kind in ROW_KINDS}
_BY_DELTA = {kind.delta: kind for kind in ROW_KINDS}

Likeness = tuple[object, ...]


def pack_chunk_rows(events: Sequence[JsonObject]) -> list[JsonObject]:
    """The records of these events: runs of three or more like deltas with contiguous seqs are one row each."""
    records: list[JsonObject] = []
    for run in _runs(events):
        if len(run) < LEAST_MEMBERS:
            records.extend(run)
        else:
            records.append(_packed(run))
    return records


def decode_storage_record(record: JsonObject) -> list[JsonObject]:
    """The events of one record: those of a row, or the record itself. Raises SessionLogError for a row that cannot be."""
    kind = _BY_ROW.get(type_of(record))
    if kind is None:
        return [record]
    members = _checked_members(record, kind)
    data = data_of(record)
    call = {name: data[name] for name in ("id", "name") if name in data}
    times = accumulate(data["dt"], initial=record["time0"])
    return [
        {
            "type": CHUNK,
            "seq": record["seq0"] + place,
            "time": time,
            "data": {
                "turn": data["turn"],
                "step": data["step"],
                "chunk": {"type": kind.delta, "index": data["index"], **call, kind.text: text},
            },
        }
        for place, (text, time) in enumerate(zip(members, times, strict=True))
    ]


def is_row(record: JsonObject) -> bool:
    """Whether a record is a packed row."""
    return type_of(record) in _BY_ROW


def _runs(events: Sequence[JsonObject]) -> Iterator[list[JsonObject]]:
    run: list[JsonObject] = []
    likeness: Likeness | None = None
    for event in events:
        found = _likeness(event)
        if run and found is not None and found == likeness and event["seq"] == run[-1]["seq"] + 1:
            run.append(event)
            continue
        if run:
            yield run
        run, likeness = [event], found
    if run:
        yield run


def _likeness(event: JsonObject) -> Likeness | None:
    """What the members of a row have in common; None for an event that no row can hold."""
    data = data_of(event)
    chunk = data.get("chunk")
    if type_of(event) != CHUNK or set(event) != _EVENT_KEYS or set(data) != {"turn", "step", "chunk"} or not isinstance(chunk, dict):
        return None
    kind = _BY_DELTA.get(str(chunk.get("type")))
    if kind is None or not isinstance(chunk.get(kind.text), str) or not (_is_whole(event["seq"]) and _is_whole(event["time"])):
        return None
    needed = {"type", "index", kind.text} | ({"id"} if kind.is_call else set())
    if not needed <= set(chunk) <= needed | ({"name"} if kind.is_call else set()):
        return None
    return (kind.delta, data["turn"], data["step"], chunk["index"], chunk.get("id"), "name" in chunk, chunk.get("name"))


def _packed(run: Sequence[JsonObject]) -> JsonObject:
    data = data_of(run[0])
    chunk = data["chunk"]
    kind = _BY_DELTA[chunk["type"]]
    return {
        "type": kind.row,
        "seq0": run[0]["seq"],
        "time0": run[0]["time"],
        "data": {
            "turn": data["turn"],
            "step": data["step"],
            "index": chunk["index"],
            **{name: chunk[name] for name in ("id", "name") if name in chunk},
            "dt": [later["time"] - earlier["time"] for earlier, later in pairwise(run)],
            kind.members: [event["data"]["chunk"][kind.text] for event in run],
        },
    }


def _checked_members(record: JsonObject, kind: RowKind) -> list[str]:
    data = data_of(record)
    needed = {"turn", "step", "index", "dt", kind.members}
    allowed = needed | ({"id", "name"} if kind.is_call else set())
    if set(record) != _ROW_KEYS or not needed <= set(data) <= allowed or not _is_whole(record["time0"]):
        raise _row_error(kind, "envelope", f"must hold exactly {', '.join(sorted(_ROW_KEYS))}, and in data {', '.join(sorted(needed))}")
    if not _is_whole(record["seq0"]) or not 0 <= record["seq0"] <= LARGEST:
        raise _row_error(kind, "seq0_invalid", "must begin at a seq from 0")
    members, steps = data[kind.members], data["dt"]
    if not isinstance(members, list) or not members or not all(isinstance(member, str) for member in members):
        raise _row_error(kind, "members_invalid", f"must list one text or more in {kind.members}")
    if not isinstance(steps, list) or len(steps) != len(members) - 1 or not all(map(_is_whole, steps)):
        raise _row_error(kind, "dt_length", f"must have {len(members) - 1} differences of time")
    named = [data.get("id"), data.get("name", "")] if kind.is_call else []
    if not all(isinstance(name, str) for name in named):
        raise _row_error(kind, "id_name_invalid", "must name its call by texts")
    return members


def _row_error(kind: RowKind, code: str, problem: str) -> SessionLogError:
    return SessionLogError(f"a packed row {kind.row} {problem}", code=f"chunk_row_{code}", row=kind.row)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
