"""One line of a transcript: whether it is the event that its place says, and what people see of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from compaction.sources.files import NotFoundSource
from compaction.sources.resolution import Finding

MOST_RECORD_CHARS = 100_000  # with the line end
MOST_RECORD_BYTES = 4 * MOST_RECORD_CHARS


def checked_event(line: bytes, number: int, session_id: str) -> Mapping[str, object]:
    """The record of a line with its end. Raises NotFoundSource with the first rule that it breaks."""
    if len(line) > MOST_RECORD_BYTES:
        raise NotFoundSource("corrupt", "transcript_record_too_large")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise NotFoundSource("corrupt", "source_not_utf8") from None
    if len(text) - text.endswith("\r\n") > MOST_RECORD_CHARS:
        raise NotFoundSource("corrupt", "transcript_record_too_large")
    record = read_object(text)
    _check_envelope(record, number, session_id)
    return record


def read_object(text: str) -> Mapping[str, object]:
    """The JSON object of a line. Raises NotFoundSource `transcript_invalid_json`, `transcript_record_not_object`."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        raise NotFoundSource("corrupt", "transcript_invalid_json") from None
    if not isinstance(record, dict):
        raise NotFoundSource("corrupt", "transcript_record_not_object")
    return record


def verified_event(line: bytes, record: Mapping[str, object], excerpt_chars: int) -> Finding:
    """An available event: its SHA-256 is over the line without its end."""
    sha256 = hashlib.sha256(without_end(line)).hexdigest()
    return Finding(
        status="available", reason="verified_transcript_event", evidence_sha256=sha256, excerpt=excerpt_of(record)[:excerpt_chars]
    )


def without_end(line: bytes) -> bytes:
    """The line without `\\n` or `\\r\\n`."""
    return line.removesuffix(b"\n").removesuffix(b"\r") if line.endswith(b"\n") else line


def excerpt_of(record: Mapping[str, object]) -> str:
    """`content` if it is a text, else its JSON; without `content` that of the whole record. "" where it nests too deep to write."""
    content = record.get("content", record)
    if isinstance(content, str):
        return content
    try:
        return json.dumps(content, ensure_ascii=False, sort_keys=True)
    except (RecursionError, ValueError):
        return ""


def _check_envelope(record: Mapping[str, object], number: int, session_id: str) -> None:
    sequence = record.get("sequence", number)
    if type(sequence) is not int or sequence != number:
        raise NotFoundSource("corrupt", "transcript_sequence_mismatch")
    if record.get("session_id", session_id) != session_id:
        raise NotFoundSource("corrupt", "transcript_session_mismatch")
    event_id = f"transcript:{session_id}:{number}"
    if record.get("event_id", event_id) != event_id:
        raise NotFoundSource("corrupt", "transcript_event_id_mismatch")
