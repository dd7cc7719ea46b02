"""Recognises Codex rollouts by content."""

from __future__ import annotations

from typing import Any

from ctxweb.importers.codex.rollout import RolloutReader, is_envelope
from ctxweb.importers.physical import Head


class CodexImporter:
    id = "codex"
    title = "OpenAI Codex CLI rollout"
    document_paths: tuple[tuple[str, ...], ...] = ()

    def sniff(self, head: Head) -> float:
        """A rollout begins with session_meta; a cut or copied one still holds nothing but envelopes."""
        values = head.values
        if values and is_envelope(values[0]) and values[0]["type"] == "session_meta":
            return 1.0
        return 0.8 if any(map(is_envelope, values)) else 0.0

    def looks_like_record(self, value: Any) -> bool:
        return is_envelope(value)

    def reader(self) -> RolloutReader:
        return RolloutReader()


IMPORTER = CodexImporter()
