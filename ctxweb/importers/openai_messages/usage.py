"""Usage of the Chat Completions and Responses APIs, and of servers that speak them; cached tokens are part of the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compaction.transcript import Usage
from ctxweb.importers.usages import inclusive_usage
from ctxweb.importers.values import count, odd_counts

PROMPT = ("prompt_tokens", "input_tokens")
OUTPUT = ("completion_tokens", "output_tokens")
READ = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
WRITTEN = ("cache_write_tokens", "cache_creation_input_tokens")
PROMPT_DETAILS = ("prompt_tokens_details", "input_tokens_details")
OUTPUT_DETAILS = ("completion_tokens_details", "output_tokens_details")


def read_usage(given: Any) -> tuple[Usage, tuple[str, ...]]:
    """The buckets with the flags of figures that are no counts; all None where there is no usage."""
    if not isinstance(given, Mapping):
        return Usage(), ()
    prompt_fields = {**given, **_details(given, PROMPT_DETAILS)}
    usage, flags = inclusive_usage(
        prompt=_first(given, PROMPT),
        read=_first(prompt_fields, READ),
        written=_first(prompt_fields, WRITTEN),
        output=_first(given, OUTPUT),
        reasoning=_first(_details(given, OUTPUT_DETAILS), ("reasoning_tokens",)),
    )
    return usage, (*odd_counts(given, (*PROMPT, *OUTPUT)), *flags)


def _details(given: Mapping[str, Any], names: tuple[str, ...]) -> Mapping[str, Any]:
    return next((given[name] for name in names if isinstance(given.get(name), Mapping)), {})


def _first(given: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    return next((figure for name in names if (figure := count(given.get(name))) is not None), None)
