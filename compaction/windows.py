"""Context windows of models, for logs that do not record one."""

from __future__ import annotations

# (prefix of the model's name, its published windows in tokens, smallest first), as of November 2026. The longest prefix wins.
# A log does not say whether a larger window was switched on: that shows only in a prompt that the smaller one cannot hold.
WINDOWS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("claude-", (200_000, 1_000_000)),
    ("gpt-4o", (128_000,)),
    ("gpt-4.1", (1_047_576,)),
    ("gpt-4-turbo", (128_000,)),
    ("gpt-4", (8_192, 32_768)),
    ("gpt-3.5", (16_385,)),
    ("o1", (200_000,)),
    ("o3", (200_000,)),
    ("o4-mini", (200_000,)),
)


def assumed_window(model: str, *, peak: int | None) -> int | None:
    """The smallest published window of `model` that holds its largest reported prompt, in tokens; None where none is known."""
    name = model.lower().rpartition("/")[2]
    fitting = max(((len(prefix), windows) for prefix, windows in WINDOWS if name.startswith(prefix)), default=None)
    if fitting is None:
        return None
    return next((window for window in fitting[1] if window >= (peak or 0)), None)
