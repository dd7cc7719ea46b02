"""What the clients are asked in tests, and their bounds there."""

from __future__ import annotations

from collections.abc import Callable

from ctxweb.llm.anthropic import AnthropicClient
from ctxweb.llm.base import LlmClient, LlmRequest
from ctxweb.llm.network import Bounds
from ctxweb.llm.openai_compatible import OpenAiCompatibleClient

KEY = "sk-secret-of-a-person"
SAID = "the words that a person wrote"
BOUNDS = Bounds(connect=0.5, read=0.4, total=20, bytes=512 * 1024)  # of its two clocks one alone can end a test, however slow the machine
SHORT = Bounds(connect=10, read=10, total=0.3)
REQUEST = LlmRequest(model="a-model", system="You write.", messages=({"role": "user", "content": SAID},), max_tokens=500, shape="framed")
KINDS: dict[str, Callable[..., LlmClient]] = {"anthropic": AnthropicClient, "openai_compatible": OpenAiCompatibleClient}
