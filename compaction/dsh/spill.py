"""dsh's spill of a new result, as one of several policies that decide over it in turn.

An earlier policy may have blocked the result, given it a value, or other content: then that stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from compaction.dsh.content import ContentBlock, text_of
from compaction.retain import head_tail_utf8
from compaction.spill import Call, Spilled, Store, byte_size, check_inline_bytes, save, spilled

Warned = Literal["no_store", "no_owner", "save_failed", "notice_exceeds_cap"]
Decision = Mapping[str, object]

ACCEPT: Decision = {"kind": "accept"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpillDecision:
    """The decision as it leaves the policy: with `spilled` as its content, or as it came, with a warning why the text stays."""

    came: Decision
    spilled: Spilled | None = None
    warning: Warned | None = None
    stored: bool = False

    @property
    def decision(self) -> Decision:
        """What the next policy is given."""
        return self.came if self.spilled is None else {**self.came, "content": [{"type": "text", "text": self.spilled.text}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpillPolicy:
    """Spills results above `max_inline_bytes`; None turns it off. Stored results belong to an owner, so without one none is stored."""

    max_inline_bytes: int | None
    store: Store | None
    has_owner: bool = True

    def __post_init__(self) -> None:
        check_inline_bytes(self.max_inline_bytes)

    @property
    def enabled(self) -> bool:
        """Whether there is a limit."""
        return self.max_inline_bytes is not None

    def decide(self, content: Sequence[ContentBlock], call: Call, decision: Decision = ACCEPT) -> SpillDecision:
        """The decision over a result with this content, after what earlier policies decided."""
        text = self._text(content, call, decision)
        if text is None or self.max_inline_bytes is None or byte_size(text) <= self.max_inline_bytes:
            return SpillDecision(came=decision)
        if self.store is None or not self.has_owner:
            return SpillDecision(came=decision, warning="no_store" if self.store is None else "no_owner")
        stored = save(text, self.store)
        if stored is None:
            return SpillDecision(came=decision, warning="save_failed")
        result = spilled(text, stored, max_inline_bytes=self.max_inline_bytes, preview=head_tail_utf8)
        return SpillDecision(came=decision, spilled=result, warning=None if result else "notice_exceeds_cap", stored=True)

    def _text(self, content: Sequence[ContentBlock], call: Call, decision: Decision) -> str | None:
        """All text of the result as one; None where it must stay as it is."""
        if call.stays or decision.get("kind") != "accept" or "value" in decision:
            return None
        given = decision.get("content", content)
        texts = [text_of(block) for block in given] if isinstance(given, Sequence) else [None]
        return None if None in texts else "".join(text for text in texts if text is not None)
