"""Usage of a model call: four disjoint buckets, as the Messages API reports them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compaction.transcript import Usage
from ctxweb.importers.values import count, odd_counts

COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
HOUR_SECONDS, FIVE_MINUTES_SECONDS = 3600, 300
FIRST_CHUNK_CHARS_PER_TOKEN = 10  # an answer with more characters a token than any text has: the figure is that of a first chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReading:
    """Usage with the flags of figures that are no counts."""

    usage: Usage
    flags: tuple[str, ...] = ()


def read_usage(given: Mapping[str, Any]) -> UsageReading:
    """The buckets of `message.usage`. All zero means that the producer did not report them: no prompt has 0 tokens.

    Where `iterations` are listed, the prompt is that of the last one of type message.
    """
    prompt = _last_iteration(given) or given
    usage = Usage(
        input_tokens=count(prompt.get("input_tokens")),
        cache_write_tokens=count(prompt.get("cache_creation_input_tokens")),
        cache_read_tokens=count(prompt.get("cache_read_input_tokens")),
        output_tokens=count(given.get("output_tokens")),
        cache_ttl_seconds=_ttl(prompt),
        reasoning_tokens=_reasoning(given),
    )
    flags = odd_counts({**given, **prompt}, COUNTS)
    if not flags and not usage.prompt_tokens and not usage.output_tokens:
        return UsageReading(usage=Usage(), flags=("usage_all_zero",))
    return UsageReading(usage=usage, flags=flags)


def is_reliable_output(output_tokens: int | None, answer_chars: int, *, is_finished: bool) -> bool:
    """Whether an output figure can be that of the whole answer of `answer_chars` characters (thinking left out)."""
    return is_finished or output_tokens is None or output_tokens * FIRST_CHUNK_CHARS_PER_TOKEN >= answer_chars


def _last_iteration(usage: Mapping[str, Any]) -> dict[str, Any] | None:
    iterations = usage.get("iterations")
    if not isinstance(iterations, list):
        return None
    return next((item for item in reversed(iterations) if isinstance(item, dict) and item.get("type") == "message"), None)


def _ttl(usage: Mapping[str, Any]) -> int | None:
    """Life of the cache that the call wrote, in seconds; None where it wrote none."""
    creation = usage.get("cache_creation")
    if isinstance(creation, dict) and count(creation.get("ephemeral_1h_input_tokens")):
        return HOUR_SECONDS
    return FIVE_MINUTES_SECONDS if count(usage.get("cache_creation_input_tokens")) else None


def _reasoning(usage: Mapping[str, Any]) -> int | None:
    details = usage.get("output_tokens_details")
    return count(details.get("thinking_tokens")) if isinstance(details, dict) else None
