"""Usage of a dsh call: its four buckets are disjoint as logged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compaction.transcript import Usage
from ctxweb.importers.values import count, odd_counts

FIELDS = ("inputTokens", "cacheWriteTokens", "cacheReadTokens", "outputTokens", "reasoningTokens")


def read_usage(value: Any) -> tuple[Usage, tuple[str, ...]]:
    """The usage, unknown where it is not told, and flags for figures that are no counts."""
    told: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    usage = Usage(
        input_tokens=count(told.get("inputTokens")),
        cache_write_tokens=count(told.get("cacheWriteTokens")),
        cache_read_tokens=count(told.get("cacheReadTokens")),
        output_tokens=count(told.get("outputTokens")),
        reasoning_tokens=count(told.get("reasoningTokens")),
    )
    return usage, odd_counts(told, FIELDS)
