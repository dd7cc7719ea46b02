"""Claude Code sessions of our own making, small enough to read in a failing test."""

from __future__ import annotations

import json
from typing import Any

SESSION = "11111111-2222-4333-8444-555555555555"


def entry(number: int, *, session: str = SESSION, **changes: Any) -> dict[str, Any]:
    """Record `number` of a chain: a user text where it is odd, a call of the model where it is even."""
    record: dict[str, Any] = {
        "parentUuid": None if number == 1 else f"{session[:8]}-{number - 1:04}",
        "isSidechain": False,
        "cwd": "/project",
        "sessionId": session,
        "version": "2.1.40",
        "uuid": f"{session[:8]}-{number:04}",
        "timestamp": f"2026-03-02T09:{number // 60:02}:{number % 60:02}.000Z",
    }
    if number % 2:
        record |= {"type": "user", "message": {"role": "user", "content": f"question {number} about getUserName 压缩"}}
    else:
        usage = {"input_tokens": 5, "cache_creation_input_tokens": 40, "cache_read_input_tokens": 1000 * number, "output_tokens": 20}
        content = [{"type": "text", "text": f"answer {number}"}]
        message = {"id": f"msg_{session[:4]}_{number}", "role": "assistant", "model": "claude-opus-4-5", "content": content}
        record |= {"type": "assistant", "message": message | {"usage": usage}}
    return record | changes


def lines(records: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def session(count: int, *, session: str = SESSION, start: int = 1, **changes: Any) -> bytes:
    """The records `start` … `count` of a session as JSON lines."""
    return lines([entry(number, session=session, **changes) for number in range(start, count + 1)])
