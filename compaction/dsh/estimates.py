"""What dsh's meter says of content, in its estimated tokens. Lengths are UTF-16 code units; figures are exact sums.

Blocks and headers are given as the session log writes them, so that a recorded price can be recomputed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compaction.counters.sizes import json_text, utf16_units

UNITS_A_TOKEN = 4
BLOCK_TOKENS = 4  # each block, each message, the system prompt and the list of tools cost this beside their text
EXACT_FLOAT = 2.0**53  # below it a float without a fraction is written like an integer

Blocks = Sequence[object]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderEstimate:
    """Tokens of a request's system prompt and tools."""

    system: int
    tools: int

    @property
    def total(self) -> int:
        """Tokens of both."""
        return self.system + self.tools


def compact_json(value: object) -> str:
    """JSON without spaces and with unescaped non-ASCII, numbers as JavaScript writes them."""
    return json_text(_whole_numbers(value), compact=True)


def estimate_units(units: int) -> int:
    """Tokens of a text of this many UTF-16 units, rounded up, without what its block costs."""
    return -(-units // UNITS_A_TOKEN)


def estimate_text(text: str) -> int:
    """Tokens of a block of text or reasoning."""
    return estimate_units(utf16_units(text)) + BLOCK_TOKENS


def estimate_call(name: str, arguments: str) -> int:
    """Tokens of a tool call; `arguments` is their JSON text."""
    return estimate_units(utf16_units(name)) + estimate_units(utf16_units(arguments)) + BLOCK_TOKENS


def estimate_block(block: object) -> int:
    """Tokens of one block of any type; unknown types and images are priced by their JSON."""
    match block:
        case {"type": "text" | "reasoning", "text": str(text)}:
            return estimate_text(text)
        case {"type": "tool-call", "name": str(name), "arguments": str(arguments)}:
            return estimate_call(name, arguments)
        case {"type": "tool-result", "content": [*content]}:
            return estimate_content(content) + BLOCK_TOKENS
        case _:
            return estimate_units(utf16_units(compact_json(block))) + BLOCK_TOKENS


def estimate_content(content: Blocks) -> int:
    """Tokens of all blocks of a message, without what the message costs."""
    return sum(map(estimate_block, content))


def estimate_message(content: Blocks, *, role: str = "user") -> int:
    """Tokens of a message. An assistant message without blocks was never sent and costs nothing."""
    if role == "assistant" and not content:
        return 0
    return estimate_content(content) + BLOCK_TOKENS


def estimate_header(header: Mapping[str, object] | None) -> HeaderEstimate:
    """Tokens of a request header. A system prompt counts also where it is empty, tools only where there are any."""
    system, tools = (header or {}).get("system"), (header or {}).get("tools")
    return HeaderEstimate(
        system=estimate_text(system) if isinstance(system, str) else 0,
        tools=estimate_text(compact_json(tools)) if tools else 0,
    )


def _whole_numbers(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_numbers(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT_FLOAT:
        return int(value)
    return value
