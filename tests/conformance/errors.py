"""The library's errors in the words of the vectors: the family of each class, and which of its figures compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction.errors import (
    CompactionError,
    DurableError,
    OptionError,
    PendingItemUnknown,
    ProtocolError,
    SessionLogError,
    SourcePointerError,
    SummarizerError,
    UnsupportedSchemeError,
    ViewLimitExceeded,
)

Attributes = dict[str, Any]

LAYER_NAMES = {
    "truncate_results": "tool_result_truncation",
    "dedup_file_reads": "file_read_deduplication",
    "prune_old_messages": "message_pruning",
    "summarise_old": "conversation_summary",
}
"""The layers of s14 by the names of the vectors."""


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

_LOST_PAIR = {"correlation_id_missing": ("block",), "wrong_role": ("block", "id")}


def _protocol(error: ProtocolError) -> Attributes:
    figures = {"block": error.kind, "id": error.tool_id}
    return {name: figures[name] for name in _LOST_PAIR.get(error.code, ("id",))}


def _view_limit(error: ViewLimitExceeded) -> Attributes:
    return {
        "tokens_before": error.tokens_before,
        "tokens_after": error.tokens_after,
        "hard_limit": error.hard_limit,
        "applied_layers": [LAYER_NAMES.get(layer, layer) for layer in error.applied_layers],
    }


FAMILIES: dict[type[CompactionError], tuple[str, Callable[[Any], str], Callable[[Any], Attributes]]] = {
    OptionError: ("config", lambda error: error.code, _option),
    SessionLogError: ("session_log", lambda error: error.code, lambda error: dict(error.figures)),
    ProtocolError: ("tool_protocol", lambda error: error.code, _protocol),
    ViewLimitExceeded: ("view_limit", lambda error: error.code, _view_limit),
    PendingItemUnknown: ("not_found", lambda error: error.code, lambda error: error.figures),
    DurableError: ("invalid_value", lambda error: error.code, lambda error: error.figures),
    UnsupportedSchemeError: ("unsupported_source_pointer", lambda error: error.code, lambda error: error.figures),
    SourcePointerError: ("source_pointer", lambda error: error.code, lambda error: error.figures),
    SummarizerError: ("summarizer", lambda error: "summarizer_failed", lambda error: {}),
}


def described(error: CompactionError) -> dict[str, object]:
    """The error as the vectors write it; an error without a family is a failure of its own and is raised again."""
    for cls, (family, code, attributes) in FAMILIES.items():
        if isinstance(error, cls):
            return {"type": family, "code": code(error), "attrs": attributes(error)}
    raise error
