"""Lanes of a source: their public ids, what is kept of each, and which records belong to it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Any

from compaction.counters import bpe
from compaction.transcript import Lane
from ctxweb.services.importing.parsing import VERDICTS, Parsed
from ctxweb.services.importing.rows import text_of

PUBLIC_ID_CHARS = 20
TITLE_CHARS = 200


def public_id_of(*, format_id: str, key: str) -> str:
    """`[a-z0-9]{20}` from the format and the lane's native key: the same for every import of the same session."""
    digest = hashlib.sha256(f"{format_id}\0{key}".encode(errors="surrogatepass")).digest()
    return base64.b32encode(digest).decode("ascii").lower()[:PUBLIC_ID_CHARS]


def history_id_of(public_id: str) -> str:
    """Public id of the recorded history of a session."""
    return f"{public_id}r"


def encoding_of(lane: Lane) -> str:
    """The tokenizer under which the lane is counted: that of its model, or the default."""
    return bpe.encoding_for_model(lane.model or "")


def facts_of(*, lane: Lane, format_id: str) -> dict[str, Any]:
    """What the importer says of a lane, under the names of the session's columns."""
    parent = public_id_of(format_id=format_id, key=lane.parent_key) if lane.parent_key is not None else ""
    return {
        "public_id": public_id_of(format_id=format_id, key=lane.key),
        "parent_public_id": parent,
        "native_id": text_of(lane.native_id),
        "format": format_id,
        "source_format": lane.source_format or format_id,
        "lane": lane.kind,
        "parent_native_id": text_of(lane.parent_native_id),
        "parent_tool_id": text_of(lane.parent_tool_id),
        "continues": text_of(lane.continues),
        "title": text_of(lane.title)[:TITLE_CHARS],
        "cwd": text_of(lane.cwd),
        "git_branch": text_of(lane.git_branch),
        "model": text_of(lane.model),
        "producer": text_of(lane.producer),
        "producer_version": text_of(lane.producer_version),
        "context_window": lane.context_window,
        "encoding": encoding_of(lane),
    }


def records_of_lanes(*, lanes: Sequence[Lane], parsed: Parsed) -> list[tuple[list[list[int]], dict[str, int]]]:
    """For each lane its record numbers as ranges [first, last], and how many of them have each verdict.

    Every record belongs to one lane, so that the counts of the lanes add up to those of the source; a record that no lane
    names belongs to the first.
    """
    owners = bytearray(len(parsed.verdicts)) if len(lanes) < 256 else [0] * len(parsed.verdicts)
    for place, lane in enumerate(lanes):
        for number in lane.record_numbers if place else ():
            owners[number - 1] = place
    ranges: list[list[list[int]]] = [[] for _ in lanes]
    counts: list[dict[str, int]] = [{} for _ in lanes]
    for number, (owner, verdict) in enumerate(zip(owners, parsed.verdicts, strict=True), start=1):
        if ranges[owner] and ranges[owner][-1][1] == number - 1:
            ranges[owner][-1][1] = number
        else:
            ranges[owner].append([number, number])
        counts[owner][VERDICTS[verdict]] = counts[owner].get(VERDICTS[verdict], 0) + 1
    return list(zip(ranges, counts, strict=True))
