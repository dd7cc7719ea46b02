"""The rows of a lane from which it can be replayed. They are plain tuples, so that a database row becomes one as it is.

A block row tells what the first call that saw the block was sent: `digest`, `chars`, `tokens` and `state` are those of
its first span (a result that was cut or spilled before it was sent is there as it was sent), or, for a block that no call
saw, those of what was logged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from compaction.messages import BlockKind, BlockState, Origin, Role
from compaction.transcript import LaneKind

Texts = Callable[[Collection[bytes]], Mapping[bytes, str]]
"""Texts by the digests of their bodies, many at a time. It is asked only for texts that a layer reads."""


class BlockRow(NamedTuple):
    """`tokens` is the exact count of the text; `first_call` the first call that saw the block, abandoned calls included, None
    if none did; `position` its place among the blocks that came with that call (`Span.position` of its first span).

    Fields that a block does not have are empty texts."""

    seq: int
    i: int
    kind: BlockKind
    digest: bytes
    chars: int
    tokens: int
    state: BlockState = "whole"
    first_call: int | None = None
    position: float = 0.0
    tool_id: str = ""
    tool_name: str = ""
    path: str = ""
    is_error: bool = False
    signature_chars: int = 0
    media_bytes: int | None = None
    flags: tuple[str, ...] = ()


class MessageRow(NamedTuple):
    """One logged message; seqs are dense, from 1. `call` is the model call that produced it, `label` as in `Message`."""

    seq: int
    role: Role
    origin: Origin
    line: int
    call: int | None = None
    abandoned: bool = False
    label: str = ""


class CallRow(NamedTuple):
    """One model call; n is dense, from 1. `prompt_tokens` as reported; `seq` is the first message of its answer."""

    n: int
    seq: int | None
    line: int
    prompt_tokens: int | None = None
    abandoned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneFacts:
    """What is known of the lane as a whole.

    `window` in tokens; `overflowed`: calls that came after a recorded compaction whose trigger was an overflow, or after a
    recorded refusal; `summaries`: messages that recorded compactions put, each with the seq of the last message that it
    stands for; `hidden`: tokens of a prompt that no message explains, None to take them from the first reported prompt.
    """

    public_id: str
    format: str = ""
    kind: LaneKind = "main"
    window: int | None = None
    overflowed: frozenset[int] = frozenset()
    summaries: tuple[tuple[int, int], ...] = ()
    hidden: int | None = None
