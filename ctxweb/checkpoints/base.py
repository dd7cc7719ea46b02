"""One checkpoint, wherever it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One checkpoint. `key` names it on the pages of its session, `id` everywhere; `parent` is the key of the one that its range
    begins with, empty where there is none.

    `from_call` … `to_call`: the calls whose prompts its range grew up in, None where the range is unknown (the file begins with
    the summary). `blocks` of the range. `bodies`: the digests of its text, in hex; not `is_readable` where a provider keeps the
    text to itself. `tokens`: exact, of the text. `range_tokens`: exact, of the range, None where nobody has summed them up yet.
    `size_before`, `size_after`: the prompt around it, as reported for a recorded one, in exact tokens of the view for a made one.
    Money in nano-dollars, None unknown. `places` of its own blocks and `compaction` (its ordinal) are those of a recorded one,
    `summary` (a public id), `attempts`, `failures` and `reason` those of a made one.
    """

    key: str
    id: str
    session: str
    origin: Literal["recorded", "made"]
    state: str
    trigger: str
    from_call: int | None
    to_call: int | None
    blocks: int
    bodies: tuple[str, ...]
    tokens: int | None
    at: datetime | None
    parent: str = ""
    range_tokens: int | None = None
    size_before: int | None = None
    size_after: int | None = None
    is_readable: bool = True
    is_detached: bool = False
    places: tuple[str, ...] = ()
    compaction: int | None = None
    before_call: int | None = None
    mechanism: str = ""
    summarizer: str = ""
    model: str = ""
    summary: str = ""
    reason: str = ""
    attempts: int | None = None
    failures: int | None = None
    cost_nano: int | None = None
    job: str = ""

    @property
    def has_range(self) -> bool:
        """Whether it is known what it stands for."""
        return self.blocks > 0

    @property
    def is_extract(self) -> bool:
        """Whether rules made it, and no model."""
        return self.summarizer == "extractive"
