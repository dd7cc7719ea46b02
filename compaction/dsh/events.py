"""The events of a dsh session log: which types there are, and what they carry, read without trust in their shape.

Source: the event catalogue of dsh v0.1.1-rc.2 (docs/persistence-catalog.md of the project), and older files of its examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

JsonObject = Mapping[str, Any]

USER, ASSISTANT, RESULT = "user/message", "assistant/message", "tool/result"
SURFACE_TYPES = frozenset({USER, ASSISTANT, RESULT})
CHUNK = "assistant/chunk"
START, SUMMARY, END, PRUNE = "compaction/start", "compaction/summary", "compaction/end", "compaction/prune"
METERING_TYPES = frozenset({SUMMARY, PRUNE})
HEADER, HEADER_DELTA, CONTEXT = "request/header", "request/header-delta", "request/context"
STEP_START, TURN_END, TITLE, END_SEED = "step/start", "turn/end", "session/title", "session/end-seed"

KNOWN_TYPES = frozenset(
    {
        *SURFACE_TYPES, *METERING_TYPES, CHUNK, START, END, HEADER, HEADER_DELTA, CONTEXT, STEP_START, TURN_END, TITLE, END_SEED,
        "turn/start", "step/end", "tool/call", "tool/code-dispatch", "tool/code-dispatch-start", "todo/write", "goal/change",
        "agent/inbox/spliced", "agent-preset/selected", "approval/asked", "approval/decided", "approval/policy", "command/run",
        "command/done", "feedback/record", "hook/invoked", "hook/result", "llm/retry", "llm/retry-started", "model/selection",
        "permission/preset", "plan/mode", "sandbox/mode", "bash/sandbox-mode", "schedule/change", "session/title-llm-request",
        "session-log-deepseek/delivery-accepted", "subagent/descriptor", "subagent/model-selection-policy", "team/member",
        "team/message/delivered", "team/message/queued", "team/task", "tool-workflow/agent-end", "tool-workflow/agent-start",
        "tool-workflow/run-end", "tool-workflow/run-start", "web/deepseek-search-llm-request",
    }
)  # fmt: skip

OLDER_TYPES = {
    "compact/start": START,
    "compact/summary": SUMMARY,
    "compact/end": END,
    "compact/prune": PRUNE,
    "context/message": USER,
}
"""Names that earlier versions wrote for the same events."""

COMPACT_PLUGIN = "compact"


def modern(event: JsonObject) -> JsonObject:
    """The event under its present name and in its present shape; the same object where it has them."""
    told = type_of(event)
    if told == CHUNK:
        return event  # by far the most, and always in this shape
    kind = OLDER_TYPES.get(told, told)
    data = data_of(event)
    if kind in (ASSISTANT, RESULT) and "message" not in data and "content" in data:
        return {**event, "type": kind, "data": _with_message(kind, data)}
    return event if kind == told else {**event, "type": kind}


def _with_message(kind: str, data: JsonObject) -> JsonObject:
    """Earlier versions wrote the content beside turn and step, and a tool's answer without the block around it."""
    rest = {name: value for name, value in data.items() if name not in ("content", "callId", "isError")}
    if kind == ASSISTANT:
        return {**rest, "message": {"role": "assistant", "content": data["content"], "source": {"kind": "model"}}}
    block = {"type": "tool-result", "toolCallId": data.get("callId"), "content": data["content"], "isError": data.get("isError") is True}
    return {**rest, "message": {"role": "user", "content": [block], "source": {"kind": "tool", "callId": data.get("callId")}}}


def type_of(event: JsonObject) -> str:
    """The event's type; "" where it is no text."""
    kind = event.get("type")
    return kind if isinstance(kind, str) else ""


def data_of(event: JsonObject) -> JsonObject:
    """The event's payload; empty where it is no object."""
    data = event.get("data")
    return data if isinstance(data, dict) else {}


def message_of(event: JsonObject) -> JsonObject:
    """The message of a surface event: the payload itself, or what stands in it."""
    data = data_of(event)
    message = data if type_of(event) == USER else data.get("message")
    return message if isinstance(message, dict) else {}


def content_of(message: JsonObject) -> Sequence[object]:
    """The blocks of a message, or of a tool result; empty where they are no list."""
    content = message.get("content")
    return content if isinstance(content, list) else ()


def source_of(message: JsonObject) -> JsonObject:
    """Who a message is from: `kind`, and what goes with it."""
    source = message.get("source")
    return source if isinstance(source, dict) else {}


def result_block(message: JsonObject) -> JsonObject:
    """The one block of a tool's answer; empty where there is none."""
    return next((block for block in content_of(message) if isinstance(block, dict) and block.get("type") == "tool-result"), {})


def texts_of(content: Sequence[object]) -> list[str]:
    """The texts of the text blocks, in order."""
    blocks = (block for block in content if isinstance(block, dict) and block.get("type") == "text")
    return [block["text"] for block in blocks if isinstance(block.get("text"), str)]


def usage_of(event: JsonObject) -> JsonObject | None:
    """The usage that an assistant message or a chunk reports, None if it reports none."""
    data = data_of(event)
    chunk = data.get("chunk")
    holder = chunk if type_of(event) == CHUNK and isinstance(chunk, dict) and chunk.get("type") == "usage" else data
    usage = holder.get("usage")
    return usage if isinstance(usage, dict) else None


def tokens(value: object) -> int:
    """A count of tokens; 0 where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def number_of(value: object) -> int | None:
    """A seq, turn or step; None where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
