"""Recognises Claude Code transcripts by content: JSON Lines on disk, and the same records as the SDK streams them."""

from __future__ import annotations

from typing import Any

from ctxweb.importers.claude_code.reader import ENTRY_KINDS, SIDE_TYPES, ClaudeCodeReader
from ctxweb.importers.physical import Head

SIDE_FIELDS = ("leafUuid", "messageId", "sessionId", "session_id")
FOREIGN_FIELDS = ("systemPayload", "usageMetadata", "projectHash")
"""Fields of Qwen and Gemini sessions, which have a sessionId too."""


class ClaudeCodeImporter:
    id = "claude_code"
    title = "Claude Code"
    document_paths: tuple[tuple[str, ...], ...] = ()

    def sniff(self, head: Head) -> float:
        """A chain record is enough; side records alone make it likely."""
        return max((_score(value) for value in head.values), default=0.0)

    def looks_like_record(self, value: Any) -> bool:
        return _is_entry(value) or _is_side_record(value)

    def reader(self) -> ClaudeCodeReader:
        return ClaudeCodeReader()


def _score(value: Any) -> float:
    if _is_entry(value) and not any(field in value for field in FOREIGN_FIELDS) and not _has_parts(value):
        return 1.0 if "parentUuid" in value else 0.9
    return 0.6 if _is_side_record(value) else 0.0


def _has_parts(value: dict[str, Any]) -> bool:
    message = value.get("message")
    return isinstance(message, dict) and "parts" in message


def _is_entry(value: Any) -> bool:
    """A record with a known type that carries an id of its session and one of its own."""
    if not _is_of_type(value, ENTRY_KINDS):
        return False
    return isinstance(value.get("sessionId") or value.get("session_id"), str) and ("uuid" in value or "message" in value)


def _is_side_record(value: Any) -> bool:
    return _is_of_type(value, SIDE_TYPES) and any(field in value for field in SIDE_FIELDS)


def _is_of_type(value: Any, types: frozenset[str]) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind in types


IMPORTER = ClaudeCodeImporter()
