"""What the tests of the physical reader read with, and read."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from ctxweb.importers.physical import Layout, Opener, Position, RawRecord, ReadLimits, read_records, record_spans

LIMITS = ReadLimits()


class SmallReads(io.BytesIO):
    """A stream that gives at most `size` bytes at a time, and cannot seek."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self._size = size

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._size if size is None or size < 0 else min(size, self._size))

    def seekable(self) -> bool:
        return False


def looks_like_record(value: Any) -> bool:
    return isinstance(value, dict) and "type" in value and ("uuid" in value or "sessionId" in value)


def read(
    data: bytes,
    *,
    layout: Layout = "lines",
    limits: ReadLimits = LIMITS,
    start: Position | None = None,
    reads_of: int | None = None,
) -> list[RawRecord]:
    stream = io.BytesIO(data) if reads_of is None else SmallReads(data, reads_of)
    return list(read_records(stream, limits=limits, layout=layout, looks_like_record=looks_like_record, start=start))


def verdicts(records: list[RawRecord]) -> list[str | None]:
    return [record.verdict for record in records]


def opener(data: bytes) -> Opener:
    return lambda: io.BytesIO(data)


def covered(records: list[RawRecord], data: bytes) -> bytes:
    """The bytes of all spans, records and what lies between them, one after another."""
    return b"".join(data[span.offset : span.offset + span.length] for span in record_spans(records, total=len(data)))


def compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def session_lines(count: int) -> Iterator[bytes]:
    """Lines as an agent writes them: a few shapes, text in two scripts, code with braces, quotes and escapes."""
    texts = [
        "Why does it stop?",
        "为什么夜间任务没有写日志?",
        'if (a["b"]) { return "{\\n}"; }',
        'tab\there \\ and "there"',
        "é \U0001f600",
    ]
    for n in range(count):
        text = texts[n % len(texts)]
        content: Any = (
            text if n % 3 == 0 else [{"type": "text", "text": text}, {"type": "tool_use", "id": f"t{n}", "input": {"n": n, "ok": True}}]
        )
        usage = {"input_tokens": n, "output_tokens": n * 7, "share": n / 3}
        record = {"type": "user", "uuid": f"u{n}", "sessionId": "s", "parentUuid": None, "message": {"content": content, "usage": usage}}
        yield compact(record)
