"""The library's errors in the words of the vectors: the family of each class, and which of its figures compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction.errors import CompactionError, OptionError, SessionLogError, SummarizerError

Attributes = dict[str, Any]


class Renamed(Exception):
    """An error whose attributes have other names in the vectors."""

    def __init__(self, error: CompactionError, attrs: Attributes) -> None:
        super().__init__(str(error))
        self.error = error
        self.attrs = attrs


def _option(error: OptionError) -> Attributes:
    figures = {"key": error.key if error.code in _NAMED_OPTIONS else None, "policy": error.policy}
    return {name: value for name, value in figures.items() if value is not None}


_NAMED_OPTIONS = frozenset(("integer_out_of_range", "ratio_out_of_range", "empty_field", "unknown_key", "wrong_kind"))

FAMILIES: dict[type[CompactionError], tuple[str, Callable[[Any], str], Callable[[Any], Attributes]]] = {
    OptionError: ("config", lambda error: error.code, _option),
    SessionLogError: ("session_log", lambda error: error.code, lambda error: dict(error.figures)),
    SummarizerError: ("summarizer", lambda error: "summarizer_failed", lambda error: {}),
}


def described(error: CompactionError) -> dict[str, object]:
    """The error as the vectors write it; an error without a family is a failure of its own and is raised again."""
    for cls, (family, code, attributes) in FAMILIES.items():
        if isinstance(error, cls):
            return {"type": family, "code": code(error), "attrs": attributes(error)}
    raise error
