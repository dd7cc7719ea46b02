"""What mini-harness 09 measures: a token for four characters, rounded up, of content only; and the pressure on its window."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CHARS_A_TOKEN = 4
MESSAGE_TOKENS = 4  # each message costs this beside its content, and the list of tools as well
WINDOW = 1_000_000  # tokens
THRESHOLD_RATIO = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPressure:
    """Estimated tokens of a prompt beside its window. Tool calls and reasoning are not priced."""

    per_message: tuple[int, ...]
    tools_tokens: int
    window: int

    @property
    def message_tokens(self) -> int:
        """Tokens of all messages."""
        return sum(self.per_message)

    @property
    def total_tokens(self) -> int:
        """Tokens of messages and tools."""
        return self.message_tokens + self.tools_tokens

    @property
    def ratio(self) -> float:
        """Tokens ÷ window."""
        return self.total_tokens / self.window

    @property
    def over_threshold(self) -> bool:
        """Whether it is at the threshold or above it."""
        return self.ratio >= THRESHOLD_RATIO


def estimate_chars(chars: int) -> int:
    """Tokens of a text of this many code points."""
    return -(-chars // CHARS_A_TOKEN)


def estimate_text(text: str) -> int:
    """Tokens of a text."""
    return estimate_chars(len(text))


def estimate_message(content: str | None) -> int:
    """Tokens of a message with this content; absent content costs nothing beside the message."""
    return estimate_text(content or "") + MESSAGE_TOKENS


def estimate_tools(tools: Sequence[Mapping[str, object]] | None) -> int:
    """Tokens of the tool definitions, of which the JSON is sent."""
    return estimate_text(json.dumps(tools, ensure_ascii=False)) + MESSAGE_TOKENS if tools else 0


def measure_pressure(
    contents: Sequence[str | None], *, tools: Sequence[Mapping[str, object]] | None = None, window: int = WINDOW
) -> WindowPressure:
    """The pressure of messages with these contents, in order."""
    return WindowPressure(per_message=tuple(map(estimate_message, contents)), tools_tokens=estimate_tools(tools), window=window)


def pressure_climb(contents: Sequence[str | None], *, window: int = WINDOW) -> tuple[WindowPressure, ...]:
    """The pressure after each message from the second on, while a conversation grows."""
    prices = tuple(map(estimate_message, contents))
    return tuple(WindowPressure(per_message=prices[:count], tools_tokens=0, window=window) for count in range(2, len(prices) + 1))
