"""The limits that decide when a view must shrink. One frozen value object, in tokens of the counter that a caller uses."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from compaction.errors import LimitError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`window`: the context window. `trigger`: the soft threshold. `hard_limit`: what a prompt must never exceed.

    None where it is not known or not set. Raises LimitError where they contradict each other.
    """

    window: int | None = None
    trigger: int | None = None
    hard_limit: int | None = None

    def __post_init__(self) -> None:
        given = [(name, value) for name in ("trigger", "hard_limit", "window") if (value := getattr(self, name)) is not None]
        for name, value in given:
            if value <= 0:
                raise LimitError(f"{name} is {value}: it must be a positive number of tokens")
        for (lower, low), (higher, high) in pairwise(given):
            if low > high:
                raise LimitError(f"{lower} ({low}) is above {higher} ({high}): lower it")
