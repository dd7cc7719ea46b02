"""Events of dsh logs for tests, numbered as they are written down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ctxweb.importers.dsh import IMPORTER
from tests.ctxweb.importers.readings import LaneReading, jsonl, read

Line = dict[str, Any]

HEADER: Line = {"type": "session", "version": 0, "id": "s-1", "cwd": "/w", "createdAt": 1785578400000, "delegationDepth": 0}
STARTED_MS = 1785578400000


def text(said: str) -> Line:
    return {"type": "text", "text": said}


def event(kind: str, data: Line | None = None, **fields: Any) -> Line:
    return {"type": kind, "data": data or {}, **fields}


def user(said: str, *, source: Line | None = None, **fields: Any) -> Line:
    message = {"id": f"id-{said}", "role": "user", "content": [text(said)], "source": source or {"kind": "user"}}
    return event("user/message", message, **{"surfaceOp": "append", **fields})


def said(words: str, *, usage: Line | None = None, calls: Sequence[str] = (), **fields: Any) -> Line:
    content = [text(words)] if words else []
    content += [{"type": "tool-call", "id": call, "name": "bash", "arguments": '{"path":"a.py"}'} for call in calls]
    message = {"id": f"id-{words}", "role": "assistant", "content": content, "source": {"kind": "model", "model": "deepseek-chat"}}
    data: Line = {"turn": 1, "step": 1, "message": message}
    return event("assistant/message", data | ({"usage": usage} if usage else {}), **{"surfaceOp": "append", **fields})


def result(call: str, *parts: str, **fields: Any) -> Line:
    block = {"type": "tool-result", "toolCallId": call, "content": [text(part) for part in parts]}
    message = {"id": f"id-{call}", "role": "user", "content": [block], "source": {"kind": "tool", "callId": call}}
    return event("tool/result", {"turn": 1, "step": 1, "message": message}, **{"surfaceOp": "append", **fields})


def replacing(start: int, end: int, sources: Sequence[int]) -> Line:
    return {"surfaceOp": {"op": "replace", "start": start, "end": end}, "sourceEventSeqs": list(sources)}


def prune(seq: int, tokens: int) -> Line:
    return event("compaction/prune", {"shadowedRange": {"start": seq, "end": seq}, "shadowedSeqs": [seq], "shadowedTokenCount": tokens})


def compaction(
    start: int, end: int, shadowed: Sequence[int], summary: str, *, at: int, turn: int | None = 1, prefix: str = "compaction"
) -> list[Line]:
    """The four events of one that succeeds; the first of them has seq `at`."""
    told = {"compactionId": "c", "turn": turn}
    announced = {"shadowedRange": {"start": start, "end": end}, "shadowedSeqs": list(shadowed), "shadowedTokenCount": 77}
    checkpoint = {
        "id": "checkpoint",
        "role": "user",
        "content": [text("Preamble\n\n<compacted-summary>"), text(summary), text("</compacted-summary>")],
        "source": {"kind": "plugin", "plugin": "compact", "compactionId": "c"},
    }
    return [
        event(f"{prefix}/start", told),
        event(f"{prefix}/summary", {**told, "summary": [text(summary)], **announced}),
        event("user/message", checkpoint, **replacing(start, end, [at, at + 1, *shadowed])),
        event(f"{prefix}/end", told),
    ]


def header(system: str | None = "Be brief", tools: Any = None, **config: Any) -> Line:
    told: Line = {"config": {"provider": "deepseek", "model": "deepseek-chat", **config}}
    told |= {} if system is None else {"system": system}
    return event("request/header", {"header": told | ({} if tools is None else {"tools": tools}), "reason": "initial"})


def usage(prompt: int, output: int = 1, **buckets: int) -> Line:
    return {"inputTokens": prompt, "outputTokens": output, **buckets}


def numbered(events: Iterable[Line], first: int = 0) -> list[Line]:
    return [{"seq": seq, "time": STARTED_MS + seq, **each} for seq, each in enumerate(events, start=first)]


def log(*events: Line, head: Line | None = None) -> bytes:
    return jsonl([head or HEADER, *numbered(events)])


def lane(*events: Line, head: Line | None = None) -> LaneReading:
    return read(IMPORTER, log(*events, head=head)).only
