"""Token counts of a rollout: which of them close a model call, and what they say.

A `token_count` event closes a call if the model wrote something since the count before it and the running total changed
(harbor's rule, which agrees with the figures of real rollouts). A count that repeats the total is a refresh of rate limits; one that
follows no output is the summariser's, or wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compaction.transcript import Usage
from ctxweb.importers.usages import inclusive_usage
from ctxweb.importers.values import count

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCount:
    """One count. `prompt` includes cached tokens, `total` is prompt + output; None = not told."""

    usage: Usage
    prompt: int | None
    total: int | None
    window: int | None
    running: tuple[tuple[str, int], ...]
    flags: tuple[str, ...] = ()

    @property
    def is_impossible(self) -> bool:
        """A prompt larger than the window cannot have been sent."""
        return self.prompt is not None and self.window is not None and self.prompt > self.window


def read_count(told: JsonObject, window: int | None, previous: TokenCount | None) -> TokenCount:
    """The count in the `info` of a token_count event; without a last usage it is the change of the running total."""
    total, last = _figures(told.get("total_token_usage")), _figures(told.get("last_token_usage"))
    if not last:
        before = dict(previous.running) if previous else {}
        last = {name: figure - before.get(name, 0) for name, figure in total.items() if figure >= before.get(name, 0)}
    prompt = last.get("input_tokens")
    usage, flags = inclusive_usage(
        prompt=prompt,
        read=last.get("cached_input_tokens"),
        written=last.get("cache_write_input_tokens"),
        output=last.get("output_tokens"),
        reasoning=last.get("reasoning_output_tokens"),
    )
    return TokenCount(
        usage=usage,
        prompt=prompt,
        total=last.get("total_tokens", None if prompt is None else prompt + last.get("output_tokens", 0)),
        window=count(told.get("model_context_window")) or window,
        running=tuple(sorted((total or last).items())),
        flags=flags,
    )


def changed(now: TokenCount, before: TokenCount | None) -> bool:
    """Whether the running total is another than before, and above 0."""
    return any(figure for _, figure in now.running) and (before is None or now.running != before.running)


def _figures(value: Any) -> dict[str, int]:
    if not isinstance(value, Mapping):
        return {}
    figures = {name: count(figure) for name, figure in value.items()}
    return {name: figure for name, figure in figures.items() if figure is not None}
