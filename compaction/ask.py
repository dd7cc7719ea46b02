"""What a layer may ask its caller for: a summary, a place for a text, an archive of a view.

A layer stays pure: what it asks for comes from the caller, and a failure is never content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, Protocol

from compaction.errors import SummarizerError

if TYPE_CHECKING:
    from compaction.view import PromptView, ViewMessage

Outcome = Literal["ok", "failed", "blank", "not_smaller"]

STUB_TOKENS = 1500
STUB_WORD = "..."  # one token under o200k_base and cl100k_base, with its blank too; four characters with it: no term of any session


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What became of one question to the summarizer. `messages`: how many it was given; `reason`: ids and sizes only."""

    messages: int
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """The messages to be summarised, out of `view`. `focus`: what the summary is asked to keep; `most_tokens` of answer."""

    messages: tuple[ViewMessage, ...]
    view: PromptView
    focus: str = ""
    most_tokens: int = 2000

    def lines(self) -> Iterator[str]:
        """Each block as a line: the role of its message, its kind, the tool that it calls, its text in full."""
        for message in self.messages:
            for visible in message.blocks:
                words = (message.role, visible.block.kind, visible.block.tool_name or "")
                yield f"{' '.join(filter(None, words))}: {self.view.pricer.text(visible.body)}"


class Ask(Protocol):
    """The caller, as a layer sees it."""

    def summarize(self, request: SummaryRequest) -> str | None:
        """A summary; None or a blank text is a failure. Raises SummarizerError."""
        ...

    def store(self, text: str, name: str) -> str | None:
        """Put a text away and return the pointer to it; None where there is no store. Raises StoreError."""
        ...

    def archive(self, view: PromptView) -> str | None:
        """Put a whole view away and return the pointer to it; None where there is no store. Raises StoreError."""
        ...


class NoAsk:
    """Nobody to ask: no summaries, no store."""

    def summarize(self, request: SummaryRequest) -> str | None:
        return None

    def store(self, text: str, name: str) -> str | None:
        return None

    def archive(self, view: PromptView) -> str | None:
        return None


class StubAsk(NoAsk):
    """Stands in for the caller of a replay: a summary of a fixed size that says nothing, and pointers to texts that are
    stored already under their digest. `public_id` is that of the session."""

    def __init__(self, public_id: str = "stub") -> None:
        self.public_id = public_id

    def summarize(self, request: SummaryRequest) -> str | None:
        return stub_summary(min(STUB_TOKENS, request.most_tokens))

    def store(self, text: str, name: str) -> str | None:
        return artifact_pointer(self.public_id, text)


class CallerAsk(NoAsk):
    """Asks a function for summaries. Whatever ordinary exception it raises becomes a SummarizerError."""

    def __init__(self, summarize: Callable[[SummaryRequest], str | None]) -> None:
        self._summarize = summarize

    def summarize(self, request: SummaryRequest) -> str | None:
        try:
            return self._summarize(request)
        except Exception as error:
            raise SummarizerError(f"no summary of {len(request.messages)} messages: {type(error).__name__}") from error


@lru_cache(maxsize=64)
def stub_summary(tokens: int) -> str:
    """A text of so many tokens that holds no word: four characters a token."""
    return " ".join([STUB_WORD] * tokens) + "." * bool(tokens)


def artifact_pointer(public_id: str, text: str) -> str:
    """The pointer of a text that a replay would have stored: nothing is written, the body is there already."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"artifact:{public_id}:{digest[:12]}.txt:{digest}"
