"""Reads one Claude Code source record by record: a verdict for each, entries without texts, lanes at the end."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any, cast

from compaction.transcript import Lane
from ctxweb.importers.base import Reading
from ctxweb.importers.claude_code.entries import Entry, EntryKind, Figures
from ctxweb.importers.claude_code.lanes import lanes_of
from ctxweb.importers.claude_code.records import read_entry, session_of
from ctxweb.importers.claude_code.source import Source
from ctxweb.importers.claude_code.usage import read_usage
from ctxweb.importers.physical import RawRecord
from ctxweb.importers.values import body_of, word

ENTRY_KINDS: frozenset[str] = frozenset(("user", "assistant", "system", "attachment", "progress", "content-replacement"))
SIDE_TYPES: frozenset[str] = frozenset(
    (
        "agent-name",
        "ai-title",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "queue-operation",
        "result",
        "summary",
        "tag",
        "worktree-state",
    )
)
"""Record types that are known to hold nothing of the conversation."""
ID_FIELDS = ("sessionId", "session_id", "uuid", "leafUuid", "messageId")


class ClaudeCodeReader:
    """Keeps structure only: a text leaves in `Reading.bodies` and is remembered by its digest."""

    def __init__(self) -> None:
        self._source = Source()
        self._follows_boundary = False

    def feed(self, record: RawRecord) -> Reading:
        value = record.value
        if not isinstance(value, dict):
            unreadable = record.verdict is not None and value is None
            return Reading(verdict=cast(str, record.verdict) if unreadable else record.verdict or "unknown_type", flags=record.flags)
        kind = word(value.get("type")) or ""
        self._source.records.setdefault(session_of(value), array("Q")).append(record.number)
        self._source.first_id = self._source.first_id or _any_id(value)
        if kind in ENTRY_KINDS:
            return self._feed_entry(record, value, cast(EntryKind, kind))
        if kind in SIDE_TYPES:
            self._feed_side(value, kind)
            return Reading(verdict=record.verdict or "ok", type=kind, flags=record.flags)
        return Reading(verdict=record.verdict or "unknown_type", type=kind, flags=record.flags)

    def lanes(self) -> Iterable[Lane]:
        return lanes_of(self._source)

    def _feed_entry(self, record: RawRecord, value: dict[str, Any], kind: EntryKind) -> Reading:
        reading = read_entry(record, value, kind, follows_boundary=self._follows_boundary)
        entry, flags = reading.entry, (*record.flags, *reading.entry.extra.flags)
        holder = self._source.holders.get(entry.uuid) if entry.uuid else None
        if holder is not None:
            if holder.kind == kind and holder.digest == entry.digest:
                return Reading(verdict=record.verdict or "duplicate", type=kind, bodies=reading.bodies, flags=flags)
            flags = (*flags, "id_used_before")
        elif entry.uuid:
            self._source.holders[entry.uuid] = entry
        self._source.entries.append(entry)
        self._follows_boundary = entry.extra.boundary is not None or (self._follows_boundary and kind != "assistant")
        self._remember_place(entry, value)
        if kind == "assistant":
            flags = (*flags, *self._remember_call(entry, value))
        elif kind == "user":
            self._remember_agent(entry, value)
        return Reading(verdict=record.verdict or "ok", type=kind, bodies=reading.bodies, flags=flags)

    def _remember_place(self, entry: Entry, value: dict[str, Any]) -> None:
        source, session = self._source, entry.session
        for kept, name in ((source.cwd, "cwd"), (source.branches, "gitBranch")):
            if session not in kept and (found := word(value.get(name))):
                kept[session] = found
        if version := word(value.get("version")):
            source.versions[session] = version

    def _remember_call(self, entry: Entry, value: dict[str, Any]) -> tuple[str, ...]:
        """Figures of the call: the last usage wins. Returns the flags of figures that are no counts."""
        message = value["message"] if isinstance(value.get("message"), dict) else {}
        self._remember_prompts(message.get("content"))
        if entry.call_id is None:
            return ()
        known = self._source.figures_of(entry)
        if entry.call_id not in known:
            known[entry.call_id] = Figures(at=entry.at, version=word(value.get("version")))
        figures = known[entry.call_id]
        if not isinstance(message.get("usage"), dict):
            return ()
        reading = read_usage(message["usage"])
        figures.usage, figures.flags = reading.usage, reading.flags
        figures.is_finished = message.get("stop_reason") is not None
        return reading.flags

    def _remember_prompts(self, content: Any) -> None:
        for block in content if isinstance(content, list) else ():
            given = block.get("input") if isinstance(block, dict) and block.get("type") == "tool_use" else None
            tool_id = word(block.get("id")) if isinstance(given, dict) else None
            if tool_id and isinstance(given, dict) and isinstance(given.get("prompt"), str):
                self._source.prompts.setdefault(body_of(given["prompt"]).digest, tool_id)

    def _remember_agent(self, entry: Entry, value: dict[str, Any]) -> None:
        result = value.get("toolUseResult")
        agent = word(result.get("agentId")) if isinstance(result, dict) else None
        if agent:
            tool_id = next((piece.tool_id for piece in entry.pieces if piece.kind == "tool_result" and piece.tool_id), None)
            if tool_id:
                self._source.agents.setdefault(agent, tool_id)

    def _feed_side(self, value: dict[str, Any], kind: str) -> None:
        titles, session = self._source.titles, session_of(value)
        if kind == "custom-title" and (title := word(value.get("customTitle"))):
            titles.custom[session] = title
        elif kind == "ai-title" and (title := word(value.get("aiTitle"))):
            titles.generated[session] = title
        elif kind == "summary" and (title := word(value.get("summary"))) and (leaf := word(value.get("leafUuid"))):
            titles.summaries[leaf] = title


def _any_id(value: dict[str, Any]) -> str:
    return next((found for name in ID_FIELDS if (found := word(value.get(name)))), "")
