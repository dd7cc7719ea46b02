"""A summary of a fixed size that says nothing: what a policy does, whatever a model would have written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compaction.ask import STUB_TOKENS, SummaryRequest, stub_summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """`tokens` without any term, fewer where less is asked for. No later use of a name can be traced to it."""

    tokens: int = STUB_TOKENS

    id: ClassVar[str] = "stub"
    title: ClassVar[str] = "A stub of 1,500 tokens without words"

    def summarize(self, request: SummaryRequest) -> str | None:
        """The stub."""
        return stub_summary(min(self.tokens, request.most_tokens))
