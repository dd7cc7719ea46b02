"""Recognises OpenAI messages by content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ctxweb.importers.exchange_reader import ExchangeReader
from ctxweb.importers.foreign import is_foreign
from ctxweb.importers.openai_messages.dialect import OpenAIDialect
from ctxweb.importers.openai_messages.exchanges import exchange_of, is_message
from ctxweb.importers.physical import Head
from ctxweb.importers.values import word

OWN_ROLES = frozenset({"system", "developer", "tool", "function"})
OWN_PARTS = frozenset({"input_text", "output_text", "image_url", "input_image", "input_audio", "refusal"})
OWN_ITEMS = frozenset({"function_call", "function_call_output", "reasoning", "compaction", "item_reference"})
ANTHROPIC_PARTS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "compaction"})

CERTAIN, LIKELY, POSSIBLE = 0.9, 0.7, 0.55


class OpenAIMessagesImporter:
    id = "openai_messages"
    title = "OpenAI Chat or Responses messages"
    document_paths: tuple[tuple[str, ...], ...] = ()

    def sniff(self, head: Head) -> float:
        """How much of the head is written in the ways that only these APIs have."""
        records = [value for value in head.values if isinstance(value, dict)]
        if not records or any(is_foreign(record, messages_of(record)) for record in records):
            return 0.0
        own = [record for record in records if is_message(record) or exchange_of(record) is not None]
        if len(own) * 2 < len(records):
            return 0.0
        entries = [entry for record in own for entry in (messages_of(record) or [record])]
        if any(_is_anthropic(entry) for entry in entries):
            return 0.0
        if any(map(_is_own_entry, entries)) or any(map(_is_own_response, own)):
            return CERTAIN
        return LIKELY if any(word(entry.get("role")) in OWN_ROLES for entry in entries if isinstance(entry, dict)) else POSSIBLE

    def looks_like_record(self, value: Any) -> bool:
        return is_message(value) or exchange_of(value) is not None

    def reader(self) -> ExchangeReader:
        return ExchangeReader(OpenAIDialect())


def messages_of(record: Mapping[str, Any]) -> list[Any]:
    """The list of messages that a record holds, itself or in its request."""
    request = record.get("request")
    for holder in (record, request if isinstance(request, Mapping) else {}, record.get("body") or {}):
        for name in ("messages", "input", "output"):
            if isinstance(holder, Mapping) and isinstance(holder.get(name), list):
                found: list[Any] = holder[name]
                return found
    return []


def _is_own_entry(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    if entry.get("tool_calls") or entry.get("tool_call_id") or entry.get("function_call"):
        return True
    return word(entry.get("type")) in OWN_ITEMS or any(word(part.get("type")) in OWN_PARTS for part in _parts(entry))


def _is_own_response(record: Mapping[str, Any]) -> bool:
    response = record.get("response")
    inner = response if isinstance(response, Mapping) else record
    return "choices" in inner or str(inner.get("object", "")).startswith(("response", "chat.completion"))


def _is_anthropic(entry: Any) -> bool:
    return isinstance(entry, dict) and "role" in entry and any(word(part.get("type")) in ANTHROPIC_PARTS for part in _parts(entry))


def _parts(entry: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    content = entry.get("content")
    return (part for part in content if isinstance(part, Mapping)) if isinstance(content, list) else ()


IMPORTER = OpenAIMessagesImporter()
