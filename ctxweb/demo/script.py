"""A writer of Claude Code sessions whose reported usage follows what is in the prompt.

It keeps the prompt as a list of sizes, so that the figures that the demo "reports" move as a provider's would: they
grow with each block, fall with each compaction, and are read from the cache where the prefix did not change.
"""

from __future__ import annotations

import datetime
import json
import random
import uuid
from collections.abc import Callable
from typing import Any

Count = Callable[[str], int]
Json = dict[str, Any]

TEXT_FACTOR = 1.12
BLOCK_TOKENS = 17
SIGNATURE_FACTOR = 0.197
PLACEHOLDER_TOKENS = 8
CACHE_SECONDS = 300


class Script:
    """Writes one session. `records` are its lines without line ends; `last` is the uuid that the next record follows."""

    def __init__(self, *, seed: int, count: Count, hidden: int, model: str = "claude-opus-4-5-20251101") -> None:
        self.random = random.Random(seed)
        self.session_id = self.identifier()
        self.model = model
        self.count = count
        self.hidden = hidden
        self.clock = datetime.datetime(2026, 11, 2, 9, 0, seed % 60, tzinfo=datetime.UTC)
        self.records: list[bytes] = []
        self.last: str | None = None
        self.prompt: dict[str, int] = {}
        self.sent = 0
        self.sent_at: datetime.datetime | None = None
        self.results: dict[str, str] = {}

    def identifier(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def letters(self, size: int) -> str:
        return "".join(self.random.choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789", k=size))

    def wait(self, seconds: float) -> None:
        self.clock += datetime.timedelta(seconds=seconds)

    def write(self, record: Json) -> None:
        self.records.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode())

    def title(self, text: str) -> None:
        self.write({"type": "custom-title", "customTitle": text, "sessionId": self.session_id})

    def chain(self, kind: str, *, parent: str | None = None, **fields: Any) -> str:
        """Write one record of the chain and return its uuid."""
        key = self.identifier()
        self.wait(1 + self.random.random() * 3)
        record = {
            "type": kind,
            "uuid": key,
            "parentUuid": parent if parent is not None else self.last,
            "sessionId": self.session_id,
            "timestamp": self.clock.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "cwd": "/home/ana/shop",
            "gitBranch": "main",
            "version": "2.1.30",
            "isSidechain": False,
            "userType": "external",
        }
        self.write(record | fields)
        self.last = key
        return key

    def size(self, text: str) -> int:
        return round(TEXT_FACTOR * self.count(text)) + BLOCK_TOKENS

    def user(self, text: str, **fields: Any) -> str:
        key = self.chain("user", message={"role": "user", "content": text}, **fields)
        self.prompt[key] = self.size(text)
        return key

    def usage(self) -> Json:
        total = self.hidden + sum(self.prompt.values())
        fresh = self.sent_at is None or (self.clock - self.sent_at).total_seconds() > CACHE_SECONDS
        read = 0 if fresh else min(self.sent, total - 3)
        self.sent, self.sent_at = total, self.clock
        return {
            "input_tokens": 3,
            "cache_creation_input_tokens": total - 3 - read,
            "cache_read_input_tokens": read,
            "output_tokens": 1,
        }

    def answer(self, *blocks: Json, **fields: Any) -> str:
        """Write one model call: a line a block, all with one message id; usage grows to the last line."""
        message_id, request_id = f"msg_01{self.letters(22)}", f"req_011{self.letters(21)}"
        usage = self.usage()
        key = ""
        for place, block in enumerate(blocks, start=1):
            written = self.count(json.dumps(block, ensure_ascii=False))
            usage = usage | {"output_tokens": usage["output_tokens"] + (written if place == len(blocks) else 1)}
            message = {
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "model": self.model,
                "content": [block],
                "stop_reason": "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn",
                "usage": usage,
            }
            key = self.chain("assistant", message=message, requestId=request_id, **fields)
            self.prompt[key] = self.block_size(block)
        return key

    def block_size(self, block: Json) -> int:
        if block["type"] == "thinking":
            return round(SIGNATURE_FACTOR * len(block["signature"])) + BLOCK_TOKENS
        return self.size(block["text"] if block["type"] == "text" else json.dumps(block["input"], ensure_ascii=False))

    def say(self, text: str) -> Json:
        return {"type": "text", "text": text}

    def think(self, text: str) -> Json:
        return {"type": "thinking", "thinking": text, "signature": self.letters(180 + 2 * len(text))}

    def use(self, tool: str, **arguments: Any) -> Json:
        return {"type": "tool_use", "id": f"toolu_01{self.letters(22)}", "name": tool, "input": arguments}

    def result(self, use: Json, text: str, *, is_error: bool = False) -> str:
        block = {"type": "tool_result", "tool_use_id": use["id"], "content": text} | ({"is_error": True} if is_error else {})
        key = self.chain("user", message={"role": "user", "content": [block]})
        self.prompt[key] = self.size(text)
        self.results[use["id"]] = key
        return key

    def step(self, tool: str, output: str, *before: Json, **arguments: Any) -> Json:
        """One call that uses one tool, and its result."""
        use = self.use(tool, **arguments)
        self.answer(*before, use)
        self.result(use, output)
        return use

    def micro(self, *uses: Json) -> None:
        """Clear old tool results, as a recorded micro-compaction does: the stored texts stay in the file."""
        before = sum(self.prompt.values())
        for use in uses:
            self.prompt[self.results[use["id"]]] = PLACEHOLDER_TOKENS
        saved = before - sum(self.prompt.values())
        self.chain(
            "system",
            subtype="microcompact_boundary",
            content="Context microcompacted",
            isMeta=False,
            level="info",
            microcompactMetadata={
                "trigger": "auto",
                "preTokens": before,
                "tokensSaved": saved,
                "compactedToolIds": [use["id"] for use in uses],
                "clearedAttachmentUUIDs": [],
            },
        )
        self.sent = self.hidden

    def compact(self, summary: str, *, trigger: str, attached: int) -> None:
        """Replace everything by a summary; `attached` tokens come back into the prompt without a record."""
        before = self.hidden + sum(self.prompt.values())
        previous, self.last = self.last, None
        self.chain(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            logicalParentUuid=previous,
            isMeta=False,
            level="info",
            compactMetadata={"trigger": trigger, "preTokens": before},
        )
        self.prompt.clear()
        self.user(
            "This session is being continued from a previous conversation that ran out of room. "
            "The conversation is summarized below:\n" + summary,
            isCompactSummary=True,
            isVisibleInTranscriptOnly=True,
        )
        self.sent = self.hidden
        self.hidden += attached

    def drop_unrecorded(self, tokens: int) -> None:
        """The prompt shrinks by `tokens` at the next call, and nothing in the file says so."""
        self.hidden -= tokens
        self.sent = 0

    def rewind(self, key: str) -> None:
        """The next record follows `key`; what came after it is a branch that was given up."""
        kept = list(self.prompt)
        for gone in kept[kept.index(key) + 1 :]:
            del self.prompt[gone]
        self.last = key

    def file(self) -> bytes:
        return b"\n".join(self.records) + b"\n"
