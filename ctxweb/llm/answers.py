"""From what a server said to an answer or a failure: by the status and by how the answer ended, never by its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from django.utils import timezone

from ctxweb.llm.base import MOST_REQUEST_ID_CHARS, FailureCode, LlmAnswer, LlmFailure, LlmUsage
from ctxweb.llm.network import Bounds

MOST_WAIT = 86_400.0  # seconds that a provider can ask to wait; more is no credible figure
_STATUSES: Mapping[int, tuple[FailureCode, str]] = {
    400: ("bad_request", "refuses the request: see whether the model takes it, its length first"),
    401: ("unauthorized", "does not know the key: set the right one"),
    402: ("forbidden", "wants to be paid first: see the account"),
    403: ("forbidden", "does not allow this key to ask: see its rights"),
    404: ("model_not_found", "knows no such model or address: see the model and the base URL"),
    408: ("timeout_read", "waited too long for the request: try again"),
    413: ("input_too_long", "takes no request of this size: choose fewer calls"),
    429: ("rate_limited", "allows no further request now: wait, or see the limits of the account"),
    529: ("overloaded", "is overloaded: try again later"),
}


@dataclass(slots=True, kw_only=True)
class Parts:
    """What has come in of an answer. `on_text` is told its length so far."""

    host: str
    bounds: Bounds
    on_text: Callable[[int], None]
    model: str = ""
    texts: list[str] = field(default_factory=list)
    chars: int = 0
    reasoning: int = 0
    tool_calls: int = 0
    stop: str = ""
    is_whole: bool = False
    usage: LlmUsage = field(default_factory=LlmUsage)
    request_id: str = ""
    flags: set[str] = field(default_factory=set)

    def text(self, piece: object) -> None:
        """A further piece of the answer's text."""
        if isinstance(piece, str):
            self.chars += len(piece)
            self.texts.append(piece)
            self.on_text(self.chars)
        if self.chars > self.bounds.text:
            raise self.failure("answer_too_large", f"wrote more than {self.bounds.text:,} characters, which is no summary")

    def failure(self, code: FailureCode, what: str) -> LlmFailure:
        usage = self.usage if self.usage != LlmUsage() else None
        return LlmFailure(code, f"{self.host} {what}.", usage=usage, request_id=self.request_id)


def answer_of(parts: Parts, *, cut: frozenset[str], refused: frozenset[str]) -> LlmAnswer:
    """The answer, if it is one. `cut` and `refused` are the words of the protocol for an answer that the limit of tokens ended, and
    for one that the provider withheld. Raises LlmFailure."""
    if parts.tool_calls:
        raise parts.failure("tool_call", "answered with a call of a tool, and was told to call none: try another model")
    if parts.stop in refused:
        raise parts.failure("refused", "withheld its answer: try another model, or other calls")
    if not parts.is_whole:
        raise parts.failure("stream_unfinished", "ended its answer before it was whole: try again")
    if parts.stop in cut:
        raise parts.failure("cut_at_limit", "was cut off at the limit of tokens: allow more, or choose fewer calls")
    text = "".join(parts.texts)
    if not text.strip():
        code: FailureCode = "reasoning_only" if parts.reasoning else "empty_answer"
        raise parts.failure(code, "wrote its thoughts and no answer: allow more tokens" if parts.reasoning else "wrote nothing")
    return LlmAnswer(
        text=text, model=parts.model, usage=parts.usage, stop=parts.stop, request_id=parts.request_id, flags=tuple(sorted(parts.flags))
    )


def failure_of_status(*, host: str, status: int, headers: Mapping[str, str], kind: str = "") -> LlmFailure:
    """The failure of an answer that is none. `kind`: the provider's own word for it, shown where it is one word."""
    code, says = _STATUSES.get(status, _of_class(status))
    return LlmFailure(
        code,
        f"{host} answered {status}{_in_brackets(kind)}: it {says}.",
        status=status,
        retry_after=retry_after(headers.get("retry-after", "")),
        request_id=request_id(headers),
    )


def broken_off(parts: Parts, *, status: int, kind: str = "") -> LlmFailure:
    """The failure of an answer that had begun: the HTTP status was 200, and `status` is the one that its reason would have had."""
    code, says = _STATUSES.get(status, _of_class(status))
    return parts.failure(code, f"broke its answer off{_in_brackets(kind)}: it {says}")


def retry_after(value: str) -> float | None:
    """Seconds that a provider asks to wait: a number, or a date; None where it says neither."""
    value = value.strip()
    if value.replace(".", "", 1).isdigit() and value.isascii() and len(value) <= 20:
        return min(float(value), MOST_WAIT)
    try:
        left = (parsedate_to_datetime(value) - timezone.now()).total_seconds()
    except (TypeError, ValueError):
        return None
    return min(max(left, 0.0), MOST_WAIT)


def request_id(headers: Mapping[str, str]) -> str:
    """The provider's id of the request, for its support."""
    given = headers.get("request-id") or headers.get("x-request-id") or ""
    return "".join(character for character in given if character.isascii() and character.isprintable())[:MOST_REQUEST_ID_CHARS]


def word(value: Any) -> str:
    """A short text of an answer as it stands, empty where it is none."""
    return value[:200] if isinstance(value, str) else ""


def _in_brackets(kind: str) -> str:
    is_word = len(kind) <= 60 and kind.isascii() and kind.replace("_", "").replace(".", "").isalnum()
    return f" ({kind})" if is_word else ""


def _of_class(status: int) -> tuple[FailureCode, str]:
    if 300 <= status < 400:
        return "redirected", "points to another address, which is never followed: set the base URL to where the server is"
    if status >= 500:
        return "server_error", "has an error of its own: try again later"
    if status >= 400:
        return "bad_request", "refuses the request: see the model and the base URL"
    return "broken_answer", "did not answer as its protocol says: see the base URL"
