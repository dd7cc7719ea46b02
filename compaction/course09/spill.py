"""mini-harness 09's spill of a new result: whole code points from both ends stay before the notice."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.retain import head_tail_utf8
from compaction.spill import Call, Spilled, Store, byte_size, check_inline_bytes, save, spilled


@dataclass(frozen=True, slots=True, kw_only=True)
class SpillTransform:
    """Spills results above `max_inline_bytes` into `store`; without one of the two each result stays. OptionError for a bad limit."""

    max_inline_bytes: int | None
    store: Store | None

    def __post_init__(self) -> None:
        check_inline_bytes(self.max_inline_bytes)

    def __call__(self, text: str, call: Call) -> Spilled | None:
        """What stands for the text of a result; None where the text itself stays."""
        limit = self.max_inline_bytes
        if limit is None or self.store is None or call.stays or byte_size(text) <= limit:
            return None
        stored = save(text, self.store)
        return None if stored is None else spilled(text, stored, max_inline_bytes=limit, preview=head_tail_utf8)
