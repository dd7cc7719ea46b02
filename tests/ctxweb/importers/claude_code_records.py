"""Records of a made-up Claude Code session, for tests that say what matters and nothing else."""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]

SESSION = "5e551011-0000-4000-8000-000000000000"


def record(kind: str, uuid: str | None, parent: str | None, **fields: Any) -> Record:
    made = {"type": kind, "parentUuid": parent, "sessionId": SESSION, "timestamp": "2026-03-02T09:00:07.000Z", "version": "2.1.40"}
    return {**made, **({"uuid": uuid} if uuid else {}), **fields}


def user(uuid: str, parent: str | None, content: Any, **fields: Any) -> Record:
    return record("user", uuid, parent, message={"role": "user", "content": content}, **fields)


def result(uuid: str, parent: str | None, tool_id: str, text: Any = "found", **fields: Any) -> Record:
    return user(uuid, parent, [{"type": "tool_result", "tool_use_id": tool_id, "content": text}], **fields)


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def use(tool_id: str, name: str = "Bash", **given: Any) -> Record:
    return {"type": "tool_use", "id": tool_id, "name": name, "input": given or {"command": "ls"}}


def answer(uuid: str, parent: str | None, call: str, *blocks: Record, usage: Any = None, **fields: Any) -> Record:
    """One line of the answer of `call`; without `usage`, a prompt of 100 tokens and 10 of output."""
    counts = usage if usage is not None else {"input_tokens": 100, "output_tokens": 10}
    stop = fields.pop("stop_reason", "end_turn")
    model = fields.pop("model", "claude-opus-4-5")
    message = {"id": call, "role": "assistant", "model": model, "content": list(blocks), "usage": counts, "stop_reason": stop}
    return record("assistant", uuid, parent, message=message, requestId=f"req_{call}", **fields)


def boundary(uuid: str, logical: str | None, *, parent: str | None = None, **data: Any) -> Record:
    metadata = {"trigger": "auto", "preTokens": 9000, **data}
    fields = {"logicalParentUuid": logical} if logical else {}
    return record("system", uuid, parent, subtype="compact_boundary", content="Conversation compacted", compactMetadata=metadata, **fields)


def summary(uuid: str, parent: str | None, words: str = "summary so far", **fields: Any) -> Record:
    return user(uuid, parent, words, isCompactSummary=True, isVisibleInTranscriptOnly=True, **fields)


def micro(uuid: str, parent: str, *tool_ids: str) -> Record:
    data = {"trigger": "auto", "preTokens": 6000, "tokensSaved": 2000, "compactedToolIds": list(tool_ids)}
    return record("system", uuid, parent, subtype="microcompact_boundary", content="Context microcompacted", microcompactMetadata=data)


def turn(name: str, parent: str | None, words: str, **fields: Any) -> list[Record]:
    """A question and its answer without tools; the answer's uuid is `a-<name>`, its call `m-<name>`."""
    return [user(f"u-{name}", parent, words, **fields), answer(f"a-{name}", f"u-{name}", f"m-{name}", text(f"answer to {words}"), **fields)]
