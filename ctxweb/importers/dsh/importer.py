"""Recognises dsh session logs by their header, or by their events where that is damaged."""

from __future__ import annotations

from typing import Any

from compaction.dsh.session_log import is_header
from ctxweb.importers.dsh.reader import DshReader, is_event
from ctxweb.importers.physical import Head

BY_EVENTS = 0.9


class DshImporter:
    id = "dsh"
    title = "DeepSeek Harness session log"
    document_paths: tuple[tuple[str, ...], ...] = ()

    def sniff(self, head: Head) -> float:
        """Certain of a header; without one, most records have to be events."""
        if any(map(is_header, head.values)):
            return 1.0
        known = sum(map(is_event, head.values))
        return BY_EVENTS if known and known * 2 > len(head.values) else 0.0

    def looks_like_record(self, value: Any) -> bool:
        return is_header(value) or is_event(value)

    def reader(self) -> DshReader:
        return DshReader()


IMPORTER = DshImporter()
