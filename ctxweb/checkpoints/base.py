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
    the summary). `blocks` of the range. `bodies`: the digests of its text, in hex; not `is_readable` where a provider keeps some of
    the text to itself, so that nobody can tell what it lacks. `tokens`: exact, of the text. `range_tokens`: exact, of the range,
    None where nobody has summed them up yet. `size_before`, `size_after`: the prompt around it, as reported for a recorded one, in
    exact tokens of the view for a made one. Money in nano-dollars, None unknown. `places` of its own blocks and `compaction` (its
    ordinal) are those of a recorded one, `summary` (a public id) and what follows it those of a made one: its range is in the file
    from `first_pointer` to `last_pointer`, and `view_sha256` is the digest of the view that it was made over.
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
    shape: str = ""
    focus: str = ""
    first_pointer: str = ""
    last_pointer: str = ""
    view_sha256: str = ""

    @property
    def has_range(self) -> bool:
        """Whether it is known what it stands for."""
        return self.blocks > 0

    @property
    def is_unused(self) -> bool:
        """Whether it stands for nothing: it was refused, came too late, or tested a summarizer."""
        return self.state in ("refused", "superseded", "trial")

    @property
    def is_extract(self) -> bool:
        """Whether rules made it, and no model."""
        return self.summarizer == "extractive"
