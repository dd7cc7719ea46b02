"""What is asked of a summary, checked: calls, summarizer, shape, focus, sizes. It becomes JSON and back for the job's row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, get_args

from django.conf import settings

from compaction.compact_tool import MOST_FOCUS_CHARS
from compaction.retention.canaries import MOST_CANARIES
from compaction.summary_prompt import PromptShape
from ctxweb.llm.registry import SUMMARIZERS

SHAPES: tuple[PromptShape, ...] = get_args(PromptShape)
EXTRACTIVE = "extractive"
LEAST_TOKENS = 100  # of a summary that is asked for


class SummaryRefused(Exception):
    """A summary that cannot be made as asked. `field` names what to change, `code` the rule."""

    def __init__(self, message: str, *, field: str, code: str = "invalid") -> None:
        super().__init__(message)
        self.field = field
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why the summary cannot be made now. `field` names what to change, empty where nothing of the request can help."""

    code: str
    field: str
    message: str


class SummaryFailed(Exception):
    """No summary came of a run. `code` is for programs, the message says what to do, without a word of the session.

    `run_after`: the job is to be tried again then; None where that cannot help.
    """

    def __init__(self, code: str, message: str, *, run_after: datetime | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.run_after = run_after


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryAsked:
    """A summary of what came with the calls `from_call` (None: the first, or that of the checkpoint which it is merged with) to
    `to_call` (None: the last).

    `keep_tokens`: the newest part of the view that stays, at least so many exact tokens. `max_tokens`: the most that a model may
    answer, 0 for the setting. `canaries`: so many are planted in the range, which makes it a trial that stands for nothing.
    """

    from_call: int | None = None
    to_call: int | None = None
    summarizer: str = EXTRACTIVE
    shape: PromptShape = "framed"
    focus: str = ""
    keep_tokens: int = 0
    is_incremental: bool = False
    canaries: int = 0
    max_tokens: int = 0

    def __post_init__(self) -> None:
        summarizers = [kind.id for kind in SUMMARIZERS]
        if self.summarizer not in summarizers:
            raise SummaryRefused(f"the summarizer is one of {', '.join(summarizers)}", field="summarizer")
        if self.shape not in SHAPES:
            raise SummaryRefused(f"the shape is one of {', '.join(SHAPES)}", field="shape")
        if len(self.focus) > MOST_FOCUS_CHARS:
            raise SummaryRefused(f"a focus has at most {MOST_FOCUS_CHARS:,} characters, this one {len(self.focus):,}", field="focus")
        _within("keep_tokens", self.keep_tokens, 0, 10**9)
        _within("canaries", self.canaries, 0, MOST_CANARIES)
        if self.max_tokens:
            _within("max_tokens", self.max_tokens, LEAST_TOKENS, settings.CTXWEB_SUMMARY_MAX_TOKENS)

    @property
    def most_tokens(self) -> int:
        """The most that a model may answer."""
        return self.max_tokens or int(settings.CTXWEB_SUMMARY_MAX_TOKENS)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def summary_asked(given: Mapping[str, Any]) -> SummaryAsked:
    """What `to_json` wrote. Raises SummaryRefused where it can be no more."""
    names = {field.name for field in fields(SummaryAsked)}
    return SummaryAsked(**{name: value for name, value in given.items() if name in names})


def _within(field: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise SummaryRefused(f"{field} is {value:,}: give {least:,} to {most:,}", field=field)
