"""What is asked of a model, what it answers, and the ways in which it fails: the same for every provider."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from compaction.summary_prompt import PromptShape

FailureCode = Literal[
    "connect_failed", "timeout_connect", "timeout_read", "timeout_total", "reset", "redirected", "bad_request", "input_too_long",
    "unauthorized", "forbidden", "model_not_found", "rate_limited", "server_error", "overloaded", "broken_answer", "answer_too_large",
    "empty_answer", "reasoning_only", "cut_at_limit", "tool_call", "stream_unfinished", "cancelled", "refused",
]  # fmt: skip
FAILURE_CODES: tuple[FailureCode, ...] = get_args(FailureCode)
RETRYABLE: frozenset[FailureCode] = frozenset(
    {
        "connect_failed", "timeout_connect", "timeout_read", "timeout_total", "reset", "rate_limited", "server_error", "overloaded",
        "stream_unfinished",
    }
)  # fmt: skip

MOST_RETRY_AFTER = 60.0  # seconds; who is told to wait longer does not try again
MOST_TOKENS = 1_000_000_000  # of one call; a larger figure is a lie
MOST_REQUEST_ID_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRequest:
    """`messages`: role and content of each, the content a text or, in shape `prefix`, the recorded wire blocks; so too `system`.
    `tools` are sent with the choice that none may be called. `max_tokens` bounds the answer."""

    model: str
    system: str | tuple[dict[str, Any], ...]
    messages: tuple[dict[str, Any], ...]
    max_tokens: int
    shape: PromptShape
    tools: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmUsage:
    """Tokens in four disjoint buckets as the provider reported them; None where it did not, or not credibly."""

    input_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmAnswer:
    """A whole answer. `flags` name what was odd about it, such as `usage_not_credible`."""

    text: str
    model: str
    usage: LlmUsage
    stop: str
    request_id: str = ""
    flags: tuple[str, ...] = ()


class LlmFailure(Exception):
    """A call that gave no answer: `code`, and a sentence that says what happened and what to do.

    `status` is the HTTP status where there was one, `retry_after` the seconds that the provider asked to wait, `usage` what it had
    reported before the call failed. The sentence holds no text of a request or an answer.
    """

    def __init__(
        self,
        code: FailureCode,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        usage: LlmUsage | None = None,
        request_id: str = "",
    ) -> None:
        super().__init__(message)
        self.code, self.status, self.retry_after, self.usage, self.request_id = code, status, retry_after, usage, request_id

    @property
    def is_retryable(self) -> bool:
        """Whether time can help, and not more of it than `MOST_RETRY_AFTER`."""
        return self.code in RETRYABLE and (self.retry_after is None or self.retry_after <= MOST_RETRY_AFTER)


def never() -> bool:
    """Nobody cancels."""
    return False


def unheard(chars: int) -> None:
    """Nobody follows how an answer grows."""


class LlmClient(Protocol):
    """Access to a server of one kind."""

    id: str

    def ask(self, request: LlmRequest, *, is_cancelled: Callable[[], bool] = never, on_text: Callable[[int], None] = unheard) -> LlmAnswer:
        """Exactly one HTTP request. Raises LlmFailure and nothing else. `is_cancelled` is asked four times a second; `on_text` is told
        how many characters have come, where the answer is streamed."""

    def count_tokens(self, request: LlmRequest) -> int | None:
        """The tokens of the prompt as its provider counts them; None where it does not, or cannot now."""


def credible_tokens(value: object) -> int | None:
    """A count as reported, None where it cannot be one."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS
    return value if is_count else None  # type: ignore[return-value]  # is_count says that it is an int
