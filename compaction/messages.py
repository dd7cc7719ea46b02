"""Messages and blocks: what an agent's session file logged, as frozen values.

A message is one logged turn; a block is one piece of it. The text of a block lives in a `Body`, which is
content-addressed: the same text is one body however often it is logged, so it is stored and counted once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

BlockKind = Literal["text", "thinking", "tool_use", "tool_result", "image", "document", "compaction", "opaque"]
Role = Literal["system", "developer", "user", "assistant", "tool"]
Origin = Literal["human", "model", "tool", "harness", "summary", "hook", "subagent", "unknown"]
BlockState = Literal["whole", "truncated", "cleared", "replaced", "spilled"]
Visibility = Literal["yes", "no", "unknown"]

BLOCK_KINDS: tuple[BlockKind, ...] = get_args(BlockKind)
BLOCK_STATES: tuple[BlockState, ...] = get_args(BlockState)

DIGEST_BYTES = 16


class BlockId(NamedTuple):
    """A block's place in its lane: `seq` of its message (1…) and its position in it (1…); written `seq.i`."""

    seq: int
    i: int

    def __str__(self) -> str:
        return f"{self.seq}.{self.i}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The text of a block. `text` is None when only the digest travels and the text stays in a store.

    `digest` is the first 16 bytes of the SHA-256 of the text in UTF-8; `chars` counts code points.
    """

    digest: bytes
    chars: int
    text: str | None = None

    @classmethod
    def of(cls, text: str) -> Body:
        """Body of a text without lone surrogates (readers replace them by U+FFFD first)."""
        return cls(digest=hashlib.sha256(text.encode()).digest()[:DIGEST_BYTES], chars=len(text), text=text)

    def without_text(self) -> Body:
        """The same body, where the text stays in a store."""
        return Body(digest=self.digest, chars=self.chars)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One piece of a message.

    `state` is the state in which the file logged it (`spilled` for a persisted output whose preview is the body).
    `signature_chars` is the length of a thinking block's signature, of which its prompt size is estimated.
    `media_bytes` is the decoded size of an image or document; its body is then a label, never the base64 text.
    `path` is the file that a tool call names, or that a result says was read; `pointer` is where a spilled text lies (shown, never opened).
    `flags` are short words for odd shapes that a reader normalised, e.g. `content_not_text`.
    """

    id: BlockId
    kind: BlockKind
    body: Body
    state: BlockState = "whole"
    tool_id: str | None = None
    tool_name: str | None = None
    path: str | None = None
    pointer: str | None = None
    media_type: str | None = None
    media_bytes: int | None = None
    signature_chars: int = 0
    is_error: bool = False
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a lane. `seq` is its place by the file order of its first record (1…); it never changes.

    `line` is the physical line of that first record, `record` its record number, `records` how many records of
    the file were folded into it. `at` is the time in milliseconds since 1970 UTC, None when unknown.
    `call` is the model call that produced it. `visible` says whether it was part of prompts at all.
    `inherited` marks a record that was copied from another session; it counts there, not here.
    """

    seq: int
    role: Role
    origin: Origin
    blocks: tuple[Block, ...]
    line: int
    record: int
    records: int = 1
    native_id: str | None = None
    at: int | None = None
    model: str | None = None
    call: int | None = None
    label: str | None = None
    visible: Visibility = "yes"
    inherited: bool = False
    abandoned: bool = False
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """A tool call with its result, matched by id. Either side is None when the file never logged it."""

    tool_id: str
    use: BlockId | None
    result: BlockId | None
