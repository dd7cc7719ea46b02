"""How Codex cuts a text to a budget (codex-rs/utils/string and core/src/context_manager, read at b24d7f3 and 023fad2).

The producer counts a token as four bytes of UTF-8, keeps the first and the last half of the budget, and writes how much it left
out between them. A rollout stores tool outputs whole; only the copy in memory, which is what the model sees, is cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ctxweb.importers.values import count

BYTES_PER_TOKEN = 4
SERIALISATION_ALLOWANCE = 1.2  # a tool output gets a fifth more than the policy's limit


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncationPolicy:
    """The limit of one tool output in the unit `mode`."""

    mode: Literal["tokens", "bytes"]
    limit: int

    @classmethod
    def of(cls, value: Any) -> TruncationPolicy | None:
        """Policy of a turn_context, None where it has none that can be read."""
        if not isinstance(value, Mapping):
            return None
        mode, limit = value.get("mode"), count(value.get("limit"))
        return cls(mode=mode, limit=limit) if mode in ("tokens", "bytes") and limit is not None else None

    def cut_output(self, text: str) -> str:
        """The tool output as the model sees it."""
        limit = int(self.limit * SERIALISATION_ALLOWANCE)
        return cut_to_tokens(text, limit) if self.mode == "tokens" else _cut(text, limit, "chars")


def tokens_of(text: str) -> int:
    """Tokens of a text in the producer's way: bytes of UTF-8 ÷ 4, rounded up."""
    return _tokens(len(text.encode()))


def cut_to_tokens(text: str, tokens: int) -> str:
    """The text if it has at most `tokens` tokens, else its two ends with a mark between them."""
    return _cut(text, tokens * BYTES_PER_TOKEN, "tokens")


def _tokens(size: int) -> int:
    return -(-size // BYTES_PER_TOKEN)


def _cut(text: str, budget: int, unit: Literal["tokens", "chars"]) -> str:
    raw = text.encode()
    if len(raw) <= budget:
        return text
    head = raw[: budget // 2].decode(errors="ignore")
    tail = raw[len(raw) - (budget - budget // 2) :]
    while tail and tail[0] & 0xC0 == 0x80:  # the middle of a character
        tail = tail[1:]
    left_out = _tokens(len(raw) - budget) if unit == "tokens" else len(text) - len(head) - len(tail.decode())
    return f"{head}…{left_out} {unit} truncated…{tail.decode()}"
