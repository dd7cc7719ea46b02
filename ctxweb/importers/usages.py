"""Usage where the provider counts cached tokens in the prompt, as four disjoint buckets."""

from __future__ import annotations

from compaction.transcript import Usage

CACHED_ABOVE_INPUT = "cached_above_input"


def inclusive_usage(
    *, prompt: int | None, read: int | None, written: int | None, output: int | None, reasoning: int | None
) -> tuple[Usage, tuple[str, ...]]:
    """Usage of a call whose `prompt` includes what was read from and written to a cache; None = not told.

    A cache above its prompt is impossible: it is cut to the prompt, which stays true, and flagged.
    """
    flags: tuple[str, ...] = ()
    if prompt is not None and (read or 0) + (written or 0) > prompt:
        read = min(read or 0, prompt)
        written = None if written is None else prompt - read
        flags = (CACHED_ABOVE_INPUT,)
    usage = Usage(
        input_tokens=None if prompt is None else prompt - (read or 0) - (written or 0),
        cache_write_tokens=written,
        cache_read_tokens=read,
        output_tokens=output,
        reasoning_tokens=reasoning,
    )
    return usage, flags
